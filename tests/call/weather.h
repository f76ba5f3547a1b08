// SPDX-License-Identifier: Apache-2.0
// Ordinary days on virtual time: the same calls directly and through Levee.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "policy/retry_policy.h"
#include "sim/answer.h"
#include "sim/sim_clock.h"
#include "sim/sim_endpoints.h"
#include "wire/status.h"

namespace levee {

inline absl::Duration Sec(double s) { return absl::Seconds(s); }

// The answer is good and takes `latency`.
inline Answer After(absl::Duration latency) {
  return Answer().Head(latency).Message(latency, "pong").Trailers(latency, StatusCode::kOk);
}

// How calls reach the service.
enum class Way {
  kDirect,  // round robin over the endpoints, no retries
  kGrpc,    // the same with gRPC's own retries: 4 attempts, 25 ms, multiplier 2
  kLevee,   // by the defaults
};

// An attempt as its fate sees it.
struct Reached {
  int64_t call = 0;  // its number in the seed
  int endpoint = 0;
  absl::Duration at;  // since the beginning
};

struct Weather {
  double per_second = 30;  // of each caller
  absl::Duration length = absl::Seconds(60);
  absl::Duration deadline = absl::Seconds(2);
  int endpoints = 3;
  int callers = 1;    // each with a sidecar of its own
  bool even = false;  // the calls come evenly spaced, else as a Poisson process
  CallPolicy policy;  // of kLevee
  // Between these the kernels of the first `dark` endpoints' hosts acknowledge nothing, as without
  // power or where all packets are lost; Infinite: never.
  absl::Duration dark_from = absl::InfiniteDuration();
  absl::Duration dark_until = absl::InfiniteDuration();
  int dark = 1;
  // What becomes of an attempt that reaches an endpoint. Draws from `random` are the same on every
  // way as long as call, endpoint and the number of draws are.
  std::function<Answer(const Reached& reached, Random& random)> fate;
  // In its place: services with state, one for each endpoint.
  std::function<Service(SimClock& clock, int endpoint, uint64_t seed)> service;
};

struct SeenCall {
  absl::Duration begun;
  absl::Duration took;
  StatusCode code = StatusCode::kUnknown;
  bool ok() const { return code == StatusCode::kOk; }
};

struct SeenWeather {
  std::vector<SeenCall> calls;             // in the order of their numbers
  std::vector<std::vector<int>> attempts;  // by second and endpoint

  // The share of calls begun within [from, to) that succeeded; 1 if there are none.
  double Success(absl::Duration from, absl::Duration to) const;
  int64_t Lost(absl::Duration from, absl::Duration to) const;
  // The share of each endpoint of the attempts made within [from, to).
  std::vector<double> Shares(absl::Duration from, absl::Duration to) const;
};

SeenWeather RunWeather(const Weather& weather, Way way, uint64_t seed);

}  // namespace levee
