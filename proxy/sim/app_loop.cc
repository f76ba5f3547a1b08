// SPDX-License-Identifier: Apache-2.0
#include "sim/app_loop.h"

#include <algorithm>
#include <utility>

#include "base/block_cache.h"
#include "sim/sim_sidecar.h"

namespace levee {

AppRequest::AppRequest(Key, SimSidecar& sidecar, const AppLoop& loop, absl::Duration timeout)
    : sidecar_(sidecar),
      loop_(loop),
      timeout_(timeout),
      deadline_(loop.shares_deadline ? sidecar.clock().now() + timeout : Instant::Infinite()) {}

std::shared_ptr<AppRequest> AppRequest::Begin(SimSidecar& sidecar, const AppLoop& loop,
                                              absl::Duration timeout, SimOrigin origin,
                                              std::string message, SimHost::OnFinish done) {
  const auto request =
      std::allocate_shared<AppRequest>(BlockAllocator<AppRequest>(), Key(), sidecar, loop, timeout);
  request->origin_ = origin;
  request->message_ = std::move(message);
  request->done_ = std::move(done);
  request->Call();
  return request;
}

void AppRequest::Call() {
  const absl::Duration left = deadline_ - sidecar_.clock().now();
  SimHost& host = sidecar_.NewCall(
      {.timeout = std::min(timeout_, left)},
      [self = shared_from_this()](const SimCaller& caller) { self->OnEnd(caller); }, origin_);
  running_.emplace(host);
  host.Send(message_, /*end=*/true);
}

std::optional<absl::Duration> AppRequest::Again(StatusCode code) {
  if (loop_.again) return loop_.again(progress_, code);
  if (progress_.calls == loop_.attempts || !loop_.codes.Has(code)) return std::nullopt;
  return loop_.backoff;
}

void AppRequest::OnEnd(const SimCaller& caller) {
  running_.reset();
  if (cancelled_) return;
  SimClock& clock = sidecar_.clock();
  const std::optional<absl::Duration> wait = Again(caller.code);
  if (!wait.has_value() || clock.now() + *wait >= deadline_) {
    if (done_) done_(caller);
    return;
  }
  ++progress_.calls;
  clock.After(*wait, [self = shared_from_this()] {
    if (!self->cancelled_) self->Call();
  });
}

void AppRequest::Cancel() {
  cancelled_ = true;
  if (!running_.has_value()) return;
  if (SimHost* const call = running_->get()) call->Leave();
}

}  // namespace levee
