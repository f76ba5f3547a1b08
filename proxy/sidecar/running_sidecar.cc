#include "sidecar/running_sidecar.h"

#include <spdlog/spdlog.h>

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/uuid.h"
#include "net/event_loop.h"

namespace levee {
namespace {

// nullptr: there is to be none.
absl::StatusOr<std::shared_ptr<net::LineWriter>> OpenAccessLog(const AccessLogSpec& spec) {
  using Target = AccessLogSpec::Target;
  const auto on_fault = [](const std::string& fault) {
    spdlog::error("access log: {}; lines get lost", fault);
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

std::string NewInstance() {
  Random random(net::RandomSeed());
  return RandomUuid(random);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunningSidecar>> RunningSidecar::Open(Options options,
                                                                     const CheckedConfig& checked) {
  std::unique_ptr<RunningSidecar> running(new RunningSidecar(std::move(options), checked));
  if (absl::Status opened = running->OpenAll(checked); !opened.ok()) return opened;
  return running;
}

RunningSidecar::RunningSidecar(Options options, const CheckedConfig& checked)
    : options_(std::move(options)),
      metrics_(MetricsOptions(options_, *checked.snapshot)),
      in_use_{.ports = ControlPorts(options_.open_grpc)},
      next_{.ports = ControlPorts(options_.open_grpc)} {}

// Whoever is shown something is shown what the other members know.
RunningSidecar::~RunningSidecar() {
  if (reloader_ != nullptr) reloader_->Stop();
  next_.ports.Stop();
  in_use_.ports.Stop();
  if (keeper_ != nullptr) keeper_->Stop();
}

absl::Status RunningSidecar::OpenAll(const CheckedConfig& checked) {
  auto log = OpenAccessLog(checked.snapshot->access_log);
  if (!log.ok()) return log.status();
  in_use_.access_log = *std::move(log);
  in_use_.snapshot = checked.snapshot;
  auto sidecar = Sidecar::Open(checked.snapshot, options_.workers, metrics_, recent_calls_,
                               in_use_.access_log.get());
  if (!sidecar.ok()) return sidecar.status();
  sidecar_ = *std::move(sidecar);
  sidecar_->OnWarning([](const std::string& text) { spdlog::warn("{}", text); });
  in_use_.listeners = sidecar_->listeners();
  reloader_ = std::make_unique<ConfigReloader>(
      sidecar_->loop(), options_.config, checked, metrics_,
      ConfigReloader::Hooks{
          .take_over = [this](const std::shared_ptr<const Snapshot>& snapshot,
                              ConfigReloader::Done done) { TakeOver(snapshot, std::move(done)); },
          .settle = [this](bool taken) { Settle(taken); }});
  metrics_.SetBudgetSource([this] { return sidecar_->budgets(); });
  metrics_.SetReplayBytesSource([this] { return sidecar_->replay_bytes(); });
  metrics_.SetLostLogLinesSource([this] {
    const std::lock_guard lock(in_use_mutex_);
    const net::LineWriter* lines = in_use_.access_log.get();
    return lost_lines_ + (lines == nullptr ? 0 : lines->lost());
  });
  sources_ = std::make_unique<AdminSources>(MakeSources());
  keeper_ = std::make_unique<StateKeeper>(*sources_, NewInstance());
  auto ports = in_use_.ports.For(*checked.snapshot, *sources_, *keeper_);
  if (!ports.ok()) return ports.status();
  in_use_.ports = *std::move(ports);
  FollowAdmin();
  return absl::OkStatus();
}

// Nothing is remembered for ports that are not open. (They have started the keeper when they are.)
void RunningSidecar::FollowAdmin() {
  const bool has_admin = in_use_.ports.has_admin();
  recent_calls_.SetEnabled(has_admin);
  if (!has_admin) keeper_->Stop();
}

AdminSources RunningSidecar::MakeSources() {
  return {.metrics = metrics_,
          .calls = recent_calls_,
          .workers = options_.workers,
          .version = options_.version,
          .commit = options_.commit,
          .started = net::ReadClock(),
          .started_at = net::WallClock(),
          .clock = net::ReadClock,
          .wall_clock = net::WallClock,
          .budgets = [this] { return sidecar_->budgets(); },
          .endpoints = [this] { return sidecar_->endpoints(); },
          .config = [this] { return reloader_->status(); },
          .ready = [this] { return sidecar_->ready(); },
          .draining = [this] { return sidecar_->draining(); },
          .drain = [this] { return sidecar_->StartDrain(); },
          .listeners = [this] { return Listeners(); }};
}

void RunningSidecar::Run() {
  Announce();
  sidecar_->Run();
  reloader_->Stop();
}

std::vector<std::string> RunningSidecar::Listeners() {
  const std::lock_guard lock(in_use_mutex_);
  std::vector<std::string> listeners;
  for (const ListenerSet::Bound& bound : in_use_.listeners) {
    listeners.push_back(absl::StrCat(bound.name, " ", bound.address.ToString()));
  }
  return listeners;
}

// Once for every address that is bound anew.
void RunningSidecar::Announce() {
  std::vector<std::string> lines;
  for (const ListenerSet::Bound& bound : in_use_.listeners) {
    lines.push_back(absl::StrCat("listening ", bound.name, " ", bound.address.ToString()));
  }
  for (std::string& line : in_use_.ports.Lines()) lines.push_back(std::move(line));
  for (const std::string& line : lines) {
    if (!absl::c_linear_search(announced_, line)) options_.announce(line);
  }
  announced_ = std::move(lines);
}

// What can fail comes first.
void RunningSidecar::TakeOver(const std::shared_ptr<const Snapshot>& snapshot,
                              ConfigReloader::Done done) {
  const bool same_log = SameLog(snapshot->access_log, in_use_.snapshot->access_log);
  auto log = same_log ? in_use_.access_log : OpenAccessLog(snapshot->access_log);
  if (!log.ok()) return done(log.status());
  auto ports = in_use_.ports.For(*snapshot, *sources_, *keeper_);
  if (!ports.ok()) return done(ports.status());
  next_ = {.snapshot = snapshot,
           .access_log = *std::move(log),
           .ports = *std::move(ports),
           .listeners = {}};
  auto listeners = sidecar_->Reload(snapshot, next_.access_log.get());
  if (listeners.ok()) next_.listeners = *listeners;
  done(listeners.status());
}

void RunningSidecar::Settle(bool taken) {
  // What is not in use any more ends with this function: ports close, the log writes its rest.
  InUse gone = std::exchange(next_, {.ports = ControlPorts(options_.open_grpc)});
  if (!taken) {
    gone.ports = ControlPorts(options_.open_grpc);
    const absl::Status restored = in_use_.ports.Restore(*sources_, *keeper_);
    if (!restored.ok()) spdlog::error("{}", std::string(restored.message()));
    FollowAdmin();
    return;
  }
  metrics_.Configure(MetricsSettings(*gone.snapshot));
  {
    const std::lock_guard lock(in_use_mutex_);
    std::swap(gone, in_use_);
    const bool other_log = gone.access_log != in_use_.access_log;
    if (other_log && gone.access_log != nullptr) lost_lines_ += gone.access_log->lost();
  }
  FollowAdmin();
  Announce();
}

}  // namespace levee
