// SPDX-License-Identifier: Apache-2.0
// A case that both hosts of a Call run: a policy, calls, and what the upstream does with each
// attempt of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "policy/retry_policy.h"
#include "sim/answer.h"

namespace levee {

struct TwinCall {
  absl::Duration at;                                  // when it comes, since the case began
  absl::Duration timeout = absl::InfiniteDuration();  // grpc-timeout
  int previous_attempts = 0;                          // grpc-previous-rpc-attempts
  std::string body;
  std::optional<absl::Duration> end_at = absl::ZeroDuration();  // END_STREAM, since it came
  std::optional<absl::Duration> leave_at;                       // the caller's reset, likewise
  std::vector<Answer> answers;  // to its attempts in turn; those after the last get the last
};

struct TwinCase {
  CallPolicy policy;
  OverloadPolicy overload;
  int endpoints = 1;
  bool reachable = true;  // the endpoints
  absl::Duration connect_wait = absl::ZeroDuration();
  std::vector<TwinCall> calls;
  // Of the worker alone: when a rule of each call that is under way is broken, since the case
  // began.
  std::optional<absl::Duration> breaks_at;
};

// The case of a seed. All spans are whole milliseconds, which is what the network's timers count.
// Nothing in it depends on which endpoint an attempt goes to, or on a draw: the two hosts draw
// different numbers. Several endpoints come with few attempts, so that none is ejected.
TwinCase RandomTwinCase(uint64_t seed);

// What can be seen of a case, a line per fact, the same for both hosts.
struct Observed {
  std::string text;
  // Two attempts of one call were answered at one instant: who came first is nobody's promise.
  bool tied = false;

  // Which endpoint an attempt went to differs between the hosts.
  struct Attempt {
    int endpoint = -1;
    bool cancelled = false;  // before its answer was complete
  };
  std::vector<std::vector<Attempt>> attempts;  // of each call
  // Of the worker alone: whether each call has the spans of its attempts, and each attempt names
  // its span to the service.
  bool traced = true;
  uint64_t broken_calls = 0;  // of the worker alone, as its metrics say
};

// How many endpoints a case has at most. All their names are equally long.
inline constexpr int kMostEndpoints = 3;
std::string NameOfEndpoint(int number);

// Why an endpoint that is not reachable is not.
inline constexpr char kNotReachable[] =
    "cannot connect to unix:/nowhere/cart.sock: no such file or directory";

Observed RunSimulated(const TwinCase& twin);

// The production worker, with its loop, sessions and sockets, on virtual time.
Observed RunReal(const TwinCase& twin);

}  // namespace levee
