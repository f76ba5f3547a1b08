// SPDX-License-Identifier: Apache-2.0
// What happened in one run of a scenario, second by second, and the figures that follow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lab/scenario.h"
#include "wire/refusal.h"

namespace levee {

// By seconds of the run, of which the last may not be whole.
using PerSecond = std::vector<int64_t>;

struct ClientRecord {
  PerSecond begun;     // requests
  PerSecond ok;        // of these, the ones answered OK, by the second in which they began
  PerSecond answered;  // answers OK, by the second in which they came
  std::vector<double> latencies;  // of those answered OK, in seconds
};

struct ServiceRecord {
  PerSecond attempts;         // that arrive, by their second
  PerSecond without_retries;  // attempts that the requests would make that began in the second
  int64_t late = 0;           // attempts that arrive when no requests begin any more
};

// The calls of one caller that a shadow policy has decided on beside the policy in force.
struct ShadowRecord {
  std::string caller;  // a client or a service
  std::string policy;
  std::string shadow;
  std::array<int64_t, kShadowOutcomes> calls{};  // by ShadowOutcome
};

// The counts of a run that its picture shows, second by second.
struct RunTimeline {
  PerSecond requests;
  PerSecond attempts;  // at the service with the greatest amplification
  PerSecond answers;   // OK
  PerSecond queue;     // calls that wait at all services, at the end of the second
};

struct RunFigures {
  enum class State { kUndisturbed, kRecovered, kStuck };

  State state = State::kUndisturbed;
  double amplification = 0;  // of the service with the greatest
  double worst_second = 0;   // of the same service
  double success = 1;
  double load = 0;                   // attempts per second at the same service, in the trouble
  double goodput = 0;                // answers OK per second, likewise
  std::optional<double> recovery_s;  // none unless the state is kRecovered
  std::optional<double> p50_s;       // none if no request was answered OK
  std::optional<double> p99_s;
};

class RunRecord {
 public:
  explicit RunRecord(const Scenario& scenario);

  // Times are since the run began.
  void Begin(size_t client, absl::Duration at);
  void Ok(size_t client, absl::Duration begun, absl::Duration at);
  void Attempt(size_t service, absl::Duration at);
  void Queue(int64_t waiting, absl::Duration at) { queue_[SecondOf(at)] = waiting; }
  // Counts of one of the caller's sidecars.
  void Shadow(const ShadowRecord& counts);

  RunFigures Figures() const;
  RunTimeline Timeline() const;
  double Amplification(size_t service) const;
  // Returns the percentiles 1 to 99 of what requests answered OK took, in seconds; empty: there are
  // none.
  std::vector<double> Percentiles() const;

  // Returns the value of what is expected, in the unit of its bound; nullopt: there is none, so
  // that no bound holds.
  std::optional<double> ValueOf(const ScenarioExpectation& expectation) const;

  const std::vector<ClientRecord>& clients() const { return clients_; }
  const std::vector<ServiceRecord>& services() const { return services_; }
  // One for each caller, policy and shadow.
  const std::vector<ShadowRecord>& shadows() const { return shadows_; }

 private:
  size_t SecondOf(absl::Duration at) const;
  size_t WorstService() const;
  double WorstSecond(size_t service) const;
  double Success(int client, absl::Duration before) const;
  double InTrouble(const PerSecond& counts) const;
  PerSecond SumOf(PerSecond ClientRecord::*counts) const;
  std::vector<double> Latencies(int client) const;
  std::optional<double> Quantile(int client, double p) const;
  void FindRecovery(RunFigures& figures) const;

  absl::Duration duration_;
  std::optional<Scenario::Span> trouble_;
  std::vector<std::vector<int64_t>> paths_;  // [client][service]: attempts per request
  std::vector<ClientRecord> clients_;
  std::vector<ServiceRecord> services_;
  PerSecond queue_;
  std::vector<ShadowRecord> shadows_;
};

}  // namespace levee
