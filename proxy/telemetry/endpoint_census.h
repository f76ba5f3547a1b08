// SPDX-License-Identifier: Apache-2.0
// The endpoints of an upstream by their states, each counted once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_values.h"

namespace levee {

// The better comes first: an endpoint that several workers see differently is as good as the best
// of them finds it.
enum class EndpointState {
  kReady,
  kConnecting,
  kEjected,
  kFailing,
  kIdle,  // no call has needed it yet
};

// The label `state` of levee_endpoints.
constexpr std::string_view EndpointStateName(EndpointState state) {
  switch (state) {
    case EndpointState::kReady:
      return "ready";
    case EndpointState::kConnecting:
      return "connecting";
    case EndpointState::kEjected:
      return "ejected";
    case EndpointState::kFailing:
      return "failing";
    case EndpointState::kIdle:
      return "idle";
  }
  return "";
}
inline constexpr int kEndpointStates = CountValues(EndpointStateName);

// One worker's endpoints of one upstream, by name. The worker may have an endpoint several times,
// for destinations of their own. Thread-safe: it locks, since states change when connections do and
// not with calls.
class EndpointCensus {
 public:
  using Counts = std::array<int64_t, kEndpointStates>;  // by EndpointState

  // nullopt: it is not there.
  void Move(std::string_view name, std::optional<EndpointState> from,
            std::optional<EndpointState> to);

  void Reset();

  // Returns how many endpoints of all workers are in each state.
  static Counts Count(const std::vector<const EndpointCensus*>& workers);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::array<int32_t, kEndpointStates>, std::less<>> endpoints_;
};

}  // namespace levee
