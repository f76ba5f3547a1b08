// SPDX-License-Identifier: Apache-2.0
#include "sim/app_loop.h"

#include <utility>

#include "sim/sim_sidecar.h"

namespace levee {

std::shared_ptr<AppRequest> AppRequest::Begin(SimSidecar& sidecar, const AppLoop& loop,
                                              absl::Duration timeout, SimOrigin origin,
                                              std::string message, SimHost::OnFinish done) {
  std::shared_ptr<AppRequest> request(new AppRequest(sidecar, loop));
  request->origin_ = origin;
  request->message_ = std::move(message);
  request->done_ = std::move(done);
  request->deadline_ = sidecar.clock().now() + timeout;
  request->Call();
  return request;
}

void AppRequest::Call() {
  ++made_;
  const absl::Duration left = deadline_ - sidecar_.clock().now();
  SimHost& host = sidecar_.NewCall(
      {.timeout = left},
      [self = shared_from_this()](const SimCaller& caller) { self->OnEnd(caller); }, origin_);
  running_.emplace(host);
  host.Send(message_, /*end=*/true);
}

void AppRequest::OnEnd(const SimCaller& caller) {
  running_.reset();
  if (cancelled_) return;
  SimClock& clock = sidecar_.clock();
  const bool again = made_ < loop_.attempts && loop_.codes.Has(caller.code) &&
                     clock.now() + loop_.backoff < deadline_;
  if (!again) {
    if (done_) done_(caller);
    return;
  }
  clock.After(loop_.backoff, [self = shared_from_this()] {
    if (!self->cancelled_) self->Call();
  });
}

void AppRequest::Cancel() {
  cancelled_ = true;
  if (!running_.has_value()) return;
  if (SimHost* const call = running_->get()) call->Leave();
}

}  // namespace levee
