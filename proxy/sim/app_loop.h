// SPDX-License-Identifier: Apache-2.0
// An application that calls again by itself when a call has failed, and does not say so.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "call/call.h"
#include "sim/sim_host.h"
#include "wire/status.h"

namespace levee {

class SimSidecar;

// The state of one request in its retry loop.
struct LoopProgress {
  int calls = 1;  // so far
  int paid = 0;   // for the use of AppLoop::again; 0 at first
};

// How a client library's retry loop calls again. The default does not.
struct AppLoop {
  int attempts = 1;  // the first included
  StatusCodeSet codes = {StatusCode::kResourceExhausted, StatusCode::kUnavailable};
  absl::Duration backoff = absl::Milliseconds(50);  // before each further attempt
  bool shares_deadline = true;  // each call is given the time that is left; else the whole timeout
  // If set, it decides in place of `attempts`, `codes` and `backoff`: it is told how each call
  // ends, and returns after what time there is another one; nullopt: there is none.
  std::function<std::optional<absl::Duration>(LoopProgress&, StatusCode)> again;
};

// One request of the application, and the calls that it makes of it through its sidecar, one after
// the other.
class AppRequest : public std::enable_shared_from_this<AppRequest> {
 public:
  // `done` is called with the last call's answer, within the event that brings it. The sidecar
  // outlives the request. Keeps itself alive until then.
  static std::shared_ptr<AppRequest> Begin(SimSidecar& sidecar, const AppLoop& loop,
                                           absl::Duration timeout, SimOrigin origin,
                                           std::string message, SimHost::OnFinish done);

  // The application does not want the answer any more; `done` is not called.
  void Cancel();

 private:
  struct Key {};  // Only Begin makes requests.

 public:
  AppRequest(Key, SimSidecar& sidecar, const AppLoop& loop, absl::Duration timeout);

 private:
  void Call();
  std::optional<absl::Duration> Again(StatusCode code);
  void OnEnd(const SimCaller& caller);

  SimSidecar& sidecar_;
  const AppLoop loop_;
  SimOrigin origin_;
  std::string message_;
  SimHost::OnFinish done_;
  const absl::Duration timeout_;
  const Instant deadline_;  // if the calls share it
  LoopProgress progress_;
  bool cancelled_ = false;
  std::optional<SimHost::Ref> running_;
};

}  // namespace levee
