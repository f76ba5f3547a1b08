// SPDX-License-Identifier: Apache-2.0
#include "sidecar/running_sidecar.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/random.h"
#include "base/uuid.h"
#include "net/event_loop.h"
#include "settings/certificates.h"
#include "sidecar/config_reloader.h"
#include "sidecar/sidecar.h"

namespace levee {
namespace {

// Returns nullptr if `spec` says that there is no access log.
absl::StatusOr<std::shared_ptr<net::LineWriter>> OpenAccessLog(const AccessLogSpec& spec,
                                                               EventLog& log) {
  using Target = AccessLogSpec::Target;
  const auto on_fault = [&log](const std::string& fault) {
    log.Write(EventKind::kAccessLogLost, [&] { return std::vector<LogField>{{"reason", fault}}; });
  };
  if (spec.target == Target::kNone) return nullptr;
  if (spec.target == Target::kStandardOutput) return net::LineWriter::ToStandardOutput(on_fault);
  auto file = net::LineWriter::ToFile(spec.path, on_fault);
  if (file.ok()) return *std::move(file);
  return absl::FailedPreconditionError(
      absl::StrCat("access log: ", file.status().message(), " (set at ", spec.position, ")"));
}

bool SameLog(const AccessLogSpec& one, const AccessLogSpec& other) {
  return one.target == other.target && one.path == other.path;
}

Metrics::CertificateLife LifeOf(const OwnCertificate& own) {
  using Of = OwnCertificate::Of;
  if (own.of == Of::kUpstream) return {own.name, "client", own.begins, own.expires};
  const char* const kind = own.of == Of::kListener ? "server " : "store ";
  return {std::string(kNoUpstream), absl::StrCat(kind, own.name), own.begins, own.expires};
}

Metrics::Settings MetricsSettings(const Snapshot& snapshot) {
  Metrics::Settings settings;
  settings.method_labels = snapshot.limits.method_labels;
  settings.metric_series = snapshot.limits.metric_series;
  settings.otel_names = snapshot.otel_names;
  for (const UpstreamSpec& upstream : snapshot.upstreams) {
    settings.upstreams.push_back(upstream.name);
    if (upstream.methods == nullptr) continue;
    for (const std::string& path : upstream.methods->all) {
      settings.methods.push_back(path.substr(1));
    }
  }
  for (const OwnCertificate& own : OwnCertificates(snapshot)) {
    if (own.there()) settings.certificates.push_back(LifeOf(own));
  }
  for (const Route& route : snapshot.routes.routes()) {
    // Only a route that names one method gives it a label.
    if (!absl::StrContains(route.method, '*') && route.method.starts_with('/')) {
      settings.methods.push_back(route.method.substr(1));
    }
  }
  return settings;
}

Metrics::Options MetricsOptions(const RunningSidecar::Options& options, const Snapshot& snapshot) {
  return {.workers = options.workers,
          .settings = MetricsSettings(snapshot),
          .version = options.version,
          .commit = options.commit,
          .config_sha256 = snapshot.sha256,
          .config_loaded_at = net::WallClock()};
}

// Returns the fields of an event about a port; `line` is "listening NAME ADDRESS".
std::vector<LogField> PortFields(const std::string& line) {
  const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
  return {{"name", words[1]}, {"address", words[2]}};
}

std::string NewInstance() {
  Random random(net::RandomSeed());
  return RandomUuid(random);
}

}  // namespace

// Reads what has been opened before the first port and the first scrape.
class RunningSidecar::View final : public SidecarView {
 public:
  explicit View(RunningSidecar& running)
      : SidecarView({.metrics = running.metrics_,
                     .calls = running.recent_calls_,
                     .workers = running.options_.workers,
                     .version = running.options_.version,
                     .commit = running.options_.commit,
                     .started = net::ReadClock(),
                     .started_at = net::WallClock()}),
        running_(running) {}

  Instant Now() const override { return net::ReadClock(); }
  absl::Time WallNow() const override { return net::WallClock(); }
  std::vector<BudgetGauges> Budgets() const override { return sidecar().budgets(); }
  std::map<std::string, double> Throttles() const override {
    return sidecar().throttle_probabilities();
  }
  std::map<std::string, GuardState> Guards() const override { return sidecar().guards(); }
  std::map<std::string, DedupeGauges> Keys() const override { return sidecar().dedupes(); }
  std::map<std::string, LeaseState> Leases() const override { return sidecar().leases(); }
  int64_t ReplayBytes() const override { return sidecar().replay_bytes(); }
  MemoryGauges Memory() const override { return sidecar().memory(); }
  LostLines Lost() const override { return running_.Lost(); }
  std::vector<EndpointView> Endpoints() const override { return sidecar().endpoints(); }
  ConfigStatus Config() const override { return running_.reloader_->status(); }
  bool Ready() const override { return sidecar().ready(); }
  bool Draining() const override { return sidecar().draining(); }
  bool StartDrain(bool until_signal) override { return sidecar().StartDrain(until_signal); }
  std::vector<std::string> Listeners() const override { return running_.Listeners(); }
  std::vector<std::string> TlsDestinations() const override { return sidecar().tls_destinations(); }
  std::map<std::string, std::string> IdentityFaults() const override {
    const std::shared_ptr<IdentitySource>& identities = running_.options_.identities;
    return identities == nullptr ? std::map<std::string, std::string>() : identities->Faults();
  }
  std::vector<StoreView> Stores() const override { return sidecar().stores(); }
  std::vector<LimitView> Limits() const override { return sidecar().limits(); }

 private:
  Sidecar& sidecar() const { return *running_.sidecar_; }

  RunningSidecar& running_;
};

absl::StatusOr<std::unique_ptr<RunningSidecar>> RunningSidecar::Open(Options options,
                                                                     const CheckedConfig& checked,
                                                                     EventLog& log) {
  std::unique_ptr<RunningSidecar> running(new RunningSidecar(std::move(options), checked, log));
  if (absl::Status opened = running->OpenAll(checked); !opened.ok()) return opened;
  return running;
}

RunningSidecar::RunningSidecar(Options options, const CheckedConfig& checked, EventLog& log)
    : options_(std::move(options)),
      log_(log),
      metrics_(MetricsOptions(options_, *checked.snapshot)),
      exporter_(options_.make_exporter(metrics_.Spans(), log)),
      view_(std::make_unique<View>(*this)),
      keeper_(*view_, NewInstance()),
      ports_(*view_, keeper_, options_.open_grpc) {}

RunningSidecar::~RunningSidecar() {
  if (reloader_ != nullptr) reloader_->Stop();
  if (options_.identities != nullptr) options_.identities->Stop();
  // The ports read the other members, so they end before those.
  ports_.Stop();
  keeper_.Stop();
}

// Takes the same steps as a reload. After an error, the destructor closes what was opened.
absl::Status RunningSidecar::OpenAll(const CheckedConfig& checked) {
  const std::shared_ptr<const Snapshot>& snapshot = checked.snapshot;
  auto log = OpenAccessLog(snapshot->access_log, log_);
  if (!log.ok()) return log.status();
  in_use_ = {.snapshot = snapshot, .access_log = *std::move(log), .listeners = {}};
  auto sidecar = Sidecar::Open(snapshot, options_.workers, metrics_, recent_calls_,
                               in_use_.access_log.get(), *exporter_, log_);
  if (!sidecar.ok()) return sidecar.status();
  sidecar_ = *std::move(sidecar);
  in_use_.listeners = sidecar_->listeners();
  ConfigTaker& taker = *this;  // make_unique may not see a private base
  reloader_ = std::make_unique<ConfigReloader>(sidecar_->loop(), options_.config, checked, metrics_,
                                               log_, taker);
  metrics_.Show(view_.get());
  absl::Status prepared = ports_.Prepare(*snapshot);
  if (!prepared.ok()) return prepared;
  ports_.Commit();
  exporter_->Configure(snapshot->otlp);
  FollowIdentities();
  return prepared;
}

// Their certificates are a part of the configuration, and come into effect as it does.
void RunningSidecar::FollowIdentities() {
  if (options_.identities == nullptr) return;
  KeepIdentities();
  options_.identities->OnChange([this] { reloader_->OnNewSvids(); });
}

void RunningSidecar::KeepIdentities() {
  if (options_.identities != nullptr) options_.identities->Keep(in_use_.snapshot->workload_apis);
}

void RunningSidecar::Run() {
  Announce();
  sidecar_->Run();
  reloader_->Stop();
  exporter_->Stop();
}

std::vector<std::string> RunningSidecar::Listeners() {
  const std::lock_guard lock(in_use_mutex_);
  std::vector<std::string> listeners;
  for (const ListenerSet::Bound& bound : in_use_.listeners) {
    listeners.push_back(absl::StrCat(bound.name, " ", bound.address.ToString()));
  }
  return listeners;
}

LostLines RunningSidecar::Lost() {
  const std::lock_guard lock(in_use_mutex_);
  const auto lost = [](const net::LineWriter* lines) {
    return lines == nullptr ? 0 : lines->lost();
  };
  return {.access_log = lost_lines_ + lost(in_use_.access_log.get()),
          .log = lost(options_.log_lines)};
}

// Announces each address that is bound anew. Writes events of these and of the addresses that are
// closed.
void RunningSidecar::Announce() {
  sidecar_->SetControlPorts(ports_.Addresses());
  std::vector<std::string> lines;
  for (const std::string& listener : Listeners()) lines.push_back("listening " + listener);
  for (std::string& line : ports_.Lines()) lines.push_back(std::move(line));
  for (const std::string& line : lines) {
    if (absl::c_linear_search(announced_, line)) continue;
    options_.announce(line);
    log_.Write(EventKind::kListenerOpened, [&] { return PortFields(line); });
  }
  for (const std::string& line : announced_) {
    if (absl::c_linear_search(lines, line)) continue;
    log_.Write(EventKind::kListenerClosed, [&] { return PortFields(line); });
  }
  announced_ = std::move(lines);
}

std::shared_ptr<const Snapshot> RunningSidecar::Running() const {
  const std::lock_guard lock(in_use_mutex_);
  return in_use_.snapshot;
}

absl::Status RunningSidecar::TakeOver(const std::shared_ptr<const Snapshot>& snapshot) {
  InUse next;
  absl::Status prepared = Prepare(snapshot, next);
  if (prepared.ok()) {
    Commit(std::move(next));
  } else {
    RollBack();
  }
  KeepIdentities();
  return prepared;
}

// Does all that can fail. The workers come last: when they have taken the snapshot over, nothing
// can fail any more.
absl::Status RunningSidecar::Prepare(const std::shared_ptr<const Snapshot>& snapshot, InUse& next) {
  const bool same_log = SameLog(snapshot->access_log, in_use_.snapshot->access_log);
  auto log = same_log ? in_use_.access_log : OpenAccessLog(snapshot->access_log, log_);
  if (!log.ok()) return log.status();
  if (absl::Status opened = ports_.Prepare(*snapshot); !opened.ok()) return opened;
  auto listeners = sidecar_->Reload(snapshot, log->get());
  if (!listeners.ok()) return listeners.status();
  next = {snapshot, *std::move(log), *std::move(listeners)};
  return absl::OkStatus();
}

// Publishes the new configuration. At the end of this function, the ports of before close, and the
// access log of before writes its last lines.
void RunningSidecar::Commit(InUse next) {
  metrics_.Configure(MetricsSettings(*next.snapshot));
  exporter_->Configure(next.snapshot->otlp);
  const std::vector<std::unique_ptr<ControlPort>> gone = ports_.Commit();
  {
    const std::lock_guard lock(in_use_mutex_);
    std::swap(next, in_use_);
    const bool other_log = next.access_log != in_use_.access_log;
    if (other_log && next.access_log != nullptr) lost_lines_ += next.access_log->lost();
  }
  Announce();
}

void RunningSidecar::RollBack() {
  const absl::Status restored = ports_.RollBack();
  if (restored.ok()) return;
  log_.Write(EventKind::kPortLost, [&] {
    return std::vector<LogField>{{"reason", std::string(restored.message())}};
  });
}

}  // namespace levee
