// SPDX-License-Identifier: Apache-2.0
#include "doctor/sidecar_checks.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "config/room_warnings.h"
#include "doctor/target_check.h"
#include "doctor/tls_check.h"

namespace levee::doctor {
namespace {

std::string Mebibytes(int64_t bytes) {
  return absl::StrFormat("%.0f MiB", static_cast<double>(bytes) / (1 << 20));
}

// Returns what the sidecar itself and limits that somebody has chosen may take, in bytes. The
// defaults give way by themselves.
int64_t WantedMemory(const Snapshot& snapshot, const MemoryPlan& plan) {
  int64_t wanted = MemoryPlan::kOwn + MemoryPlan::kHeaderBlocks + MemoryPlan::kRoutes;
  const auto defaults = ParseConfig("", "{}");
  if (!defaults.ok()) return wanted;
  const Limits& limits = (*defaults)->limits;
  if (snapshot.limits.connections != limits.connections) wanted += plan.connections;
  if (snapshot.limits.replay_bytes != limits.replay_bytes) wanted += plan.replay;
  if (snapshot.limits.handshakes != limits.handshakes) wanted += plan.handshakes;
  return wanted + plan.answers;
}

// Adds the findings of the checks, one after the other.
class Checks {
 public:
  explicit Checks(const SidecarFacts& facts) : facts_(facts), state_(facts.state) {}

  void Configuration();
  void Ports();
  void Serving();
  void Calls();
  void Tunnels();
  void Targets() { Append(CheckTargets(facts_)); }
  void Certificates() { Append(CheckCertificates(facts_)); }
  void Budgets();
  void LimitHits();
  void Memory();
  void Descriptors();
  void Clock();
  void Policy();
  void Callers();
  void Streams();
  void Handshakes() { Append(CheckHandshakes(facts_)); }

  Findings Take() { return std::move(findings_); }

 private:
  void Add(Severity severity, const char* code, std::string text, std::string cure = "") {
    findings_.push_back({severity, code, std::move(text), std::move(cure)});
  }
  void Append(Findings more) {
    for (Finding& finding : more) findings_.push_back(std::move(finding));
  }

  const SidecarFacts& facts_;
  const admin::v1::State& state_;
  Findings findings_;
};

void Checks::Configuration() {
  const admin::v1::Configuration& configuration = state_.configuration();
  if (!configuration.last_reload_refused()) {
    Add(Severity::kOk, "LD102",
        absl::StrCat("configuration ", configuration.sha256().substr(0, 12), " of ",
                     configuration.files().empty() ? "the built-in default"
                                                   : absl::StrJoin(configuration.files(), ", ")));
    return;
  }
  for (const std::string& fault : configuration.faults()) {
    Add(Severity::kFault, "LD102",
        absl::StrCat("the newest configuration is refused, an older one runs: ", fault),
        "correct the file; levee check says when it is right");
  }
}

void Checks::Ports() {
  const auto& bound = state_.sidecar().listeners();
  if (facts_.config.snapshot != nullptr) {
    for (const ListenerSpec& listener : facts_.config.snapshot->listeners) {
      const std::string begin = listener.name + " ";
      const bool there = std::any_of(bound.begin(), bound.end(), [&](const std::string& each) {
        return absl::StartsWith(each, begin);
      });
      if (there) continue;
      Add(Severity::kFault, "LD103", absl::StrCat("listener ", listener.name, " is not bound"),
          "free its port, and restart the sidecar");
      return;
    }
  }
  if (bound.empty()) {
    Add(Severity::kFault, "LD103", "no port for calls is bound", "restart the sidecar");
    return;
  }
  Add(Severity::kOk, "LD103", absl::StrCat("bound for calls: ", absl::StrJoin(bound, ", ")));
}

void Checks::Serving() {
  if (state_.sidecar().phase() == admin::v1::Sidecar::PHASE_DRAINING) {
    Add(Severity::kWarning, "LD104", "it drains and ends soon",
        "if nobody has asked for that, see who sends SIGTERM or asks for /drain");
  } else {
    Add(Severity::kOk, "LD104", "it serves");
  }
}

void Checks::Calls() {
  const bool called = state_.sidecar().active_calls() > 0 ||
                      std::any_of(state_.upstreams().begin(), state_.upstreams().end(),
                                  [](const auto& each) { return each.last_called() > 0; });
  if (called) {
    Add(Severity::kOk, "LD105", "calls come through it");
    return;
  }
  const uint32_t connections = state_.sidecar().downstream_connections();
  Add(Severity::kWarning, "LD105",
      absl::StrCat("no call has come through it in the last five minutes, and ",
                   connections == 0 ? std::string("nobody is connected")
                                    : absl::StrCat(connections, " connections are open")),
      absl::StrCat("let the application dial ",
                   state_.sidecar().listeners().empty() ? "Levee" : "the bound port",
                   " instead of the service"));
}

void Checks::Tunnels() {
  const auto& destinations = state_.sidecar().tls_destinations();
  if (destinations.empty()) {
    Add(Severity::kOk, "LD106", "the application sends no call in TLS of its own");
    return;
  }
  Add(Severity::kWarning, "LD106",
      absl::StrCat("calls that the application encrypts itself are neither retried nor counted: ",
                   absl::StrJoin(destinations, ", ")),
      "let the application speak without TLS to Levee, and give the upstream tls");
}

void Checks::Budgets() {
  const size_t before = findings_.size();
  for (const admin::v1::Upstream& upstream : state_.upstreams()) {
    if (upstream.budget().floor_withheld()) {
      Add(Severity::kWarning, "LD109",
          absl::StrCat(
              upstream.name(),
              ": the minimum of the retry budget (floor) does not count, since retries and "
              "attempts mostly fail"),
          "look for the cause at the service; retries come back with its successes");
    } else if (upstream.budget().empty_seconds() > 0) {
      Add(Severity::kWarning, "LD109",
          absl::StrFormat("%s: the retry budget has been used up for %.0f s", upstream.name(),
                          upstream.budget().empty_seconds()),
          "look for the cause at the service; a larger budget makes its load larger");
    }
  }
  if (findings_.size() == before) {
    Add(Severity::kOk, "LD109", "retry budgets have retries left, and their minimums count");
  }
}

void Checks::LimitHits() {
  std::vector<std::string> hits;
  for (const auto& [name, count] : state_.sidecar().limit_hits()) {
    hits.push_back(absl::StrCat(name, " ", count, " times"));
  }
  std::sort(hits.begin(), hits.end());
  for (const std::string& hit : hits) {
    Add(Severity::kWarning, "LD110", absl::StrCat("a limit was reached: ", hit),
        "docs/limits.md says what happens then, and which field raises it");
  }
  if (hits.empty()) Add(Severity::kOk, "LD110", "no limit was reached");
}

void Checks::Memory() {
  if (facts_.memory == 0 || facts_.config.snapshot == nullptr) {
    Add(Severity::kOk, "LD111",
        "memory is not judged: what the sidecar may have is not known here");
    return;
  }
  const Snapshot& snapshot = *facts_.config.snapshot;
  const MemoryPlan plan = PlanMemory(snapshot, facts_.memory);
  const int64_t wanted = WantedMemory(snapshot, plan);
  const std::string text =
      absl::StrCat("limits that are not the defaults take up to ", Mebibytes(wanted),
                   " with the sidecar itself; ", "calls end from ", Mebibytes(plan.full()),
                   " on, in a container of ", Mebibytes(facts_.memory));
  if (wanted <= plan.full() && plan.limit <= facts_.memory) {
    Add(Severity::kOk, "LD111", text);
  } else {
    Add(Severity::kWarning, "LD111", text,
        "give the container more memory, or lower the limits; docs/limits.md has the sum");
  }
}

void Checks::Descriptors() {
  if (facts_.descriptors == 0 || facts_.config.snapshot == nullptr) {
    Add(Severity::kOk, "LD112",
        "file descriptors are not judged: what the sidecar may have is not known here");
    return;
  }
  const int64_t wanted = facts_.config.snapshot->limits.connections;
  const std::string text = absl::StrCat(facts_.descriptors, " file descriptors for callers, ",
                                        wanted, " connections allowed");
  // The default gives way by itself.
  if (wanted <= facts_.descriptors || wanted == DefaultConnections()) {
    Add(Severity::kOk, "LD112", text);
  } else {
    Add(Severity::kWarning, "LD112", text,
        "raise the limit of open files, or lower limits.connections");
  }
}

void Checks::Clock() {
  const absl::Duration ahead =
      facts_.now - absl::FromUnixMicros(static_cast<int64_t>(state_.time() * 1e6));
  const std::string text = absl::StrCat(
      "its clock and the one here differ by ",
      absl::FormatDuration(absl::Trunc(absl::AbsDuration(ahead), absl::Milliseconds(1))));
  if (absl::AbsDuration(ahead) <= kClockDiffers) {
    Add(Severity::kOk, "LD113", text);
  } else {
    Add(Severity::kWarning, "LD113", text, "set both by NTP; logs and certificates depend on it");
  }
}

void Checks::Policy() {
  for (const std::string& warning : state_.configuration().warnings()) {
    Add(Severity::kWarning, "LD114", warning, "docs/checks.md says what to do about it");
  }
  if (state_.configuration().warnings().empty()) {
    Add(Severity::kOk, "LD114", "the policy has no warnings");
  }
}

void Checks::Callers() {
  const size_t before = findings_.size();
  for (const admin::v1::Upstream& upstream : state_.upstreams()) {
    if (upstream.severity() != admin::v1::Upstream::SEVERITY_ALARM) continue;
    Add(Severity::kFault, "LD115", absl::StrCat(upstream.name(), ": ", upstream.verdict()),
        "levee top and the page show what fails");
  }
  if (findings_.size() == before) Add(Severity::kOk, "LD115", "no upstream harms its callers");
}

void Checks::Streams() {
  const size_t before = findings_.size();
  for (const admin::v1::Upstream& upstream : state_.upstreams()) {
    const admin::v1::Guard& guard = upstream.guard();
    if (guard.limit() == 0 || 2 * guard.streams() < guard.limit()) continue;
    Add(Severity::kWarning, "LD117",
        absl::StrCat(upstream.name(), ": streams hold ", guard.streams(), " of the ", guard.limit(),
                     " slots of its guard, and other calls wait or are refused"),
        "say guard.concurrency.streams: auto, which is the default, or free");
  }
  if (findings_.size() == before) Add(Severity::kOk, "LD117", "no guard is full of streams");
}

}  // namespace

Findings CheckSidecar(const SidecarFacts& facts) {
  Checks checks(facts);
  checks.Configuration();
  checks.Ports();
  checks.Serving();
  checks.Calls();
  checks.Tunnels();
  checks.Targets();
  checks.Certificates();
  checks.Budgets();
  checks.LimitHits();
  checks.Memory();
  checks.Descriptors();
  checks.Clock();
  checks.Policy();
  checks.Callers();
  checks.Handshakes();
  checks.Streams();
  return checks.Take();
}

}  // namespace levee::doctor
