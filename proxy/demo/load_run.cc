// SPDX-License-Identifier: Apache-2.0
#include "demo/load_run.h"

#include <algorithm>

#include "absl/time/time.h"

namespace levee::demo {
namespace {

constexpr absl::Duration kCountEvery = absl::Milliseconds(100);
// The resolution of timers: calls that are due within a millisecond start together.
constexpr absl::Duration kShortestWait = absl::Milliseconds(1);

struct SetCall {
  grpc::ClientContext context;
  v1::FaultSet request;
  v1::FaultSet reply;
};

}  // namespace

FaultSwitch::FaultSwitch(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  stub_ = v1::Faults::NewStub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

void FaultSwitch::Set(const FaultShares& faults) {
  auto call = std::make_shared<SetCall>();
  call->request.set_failing(faults.failing);
  call->request.set_workers_down(faults.workers_down);
  call->context.set_wait_for_ready(true);
  stub_->async()->Set(&call->context, &call->request, &call->reply, [call](const grpc::Status&) {});
}

LoadRun::LoadRun(const Setup& setup, const DemoService& service, FaultSwitch& faults, Instant now)
    : setup_(setup),
      service_(service),
      faults_(faults),
      start_(now),
      arrived_before_(service.arrived()),
      arrivals_(setup.load.calm_per_second, now, setup.seed),
      next_count_(now),
      record_(setup.schedule),
      clients_(setup.address, setup.retries, setup.call_deadline) {}

Instant LoadRun::Advance(Instant now) {
  const Phase phase = setup_.schedule.At(now - start_);
  if (phase != phase_) Enter(phase);
  for (int due = arrivals_.TakeDue(now); due > 0; --due) clients_.StartCall();
  if (next_count_ <= now) Count(now);
  return std::max(std::min(arrivals_.next(), next_count_), now + kShortestWait);
}

void LoadRun::Enter(Phase phase) {
  const Load& load = setup_.load;
  const bool storm = phase == Phase::kStorm;
  faults_.Set(storm ? load.storm_faults : FaultShares{});
  arrivals_.SetRate(storm ? load.storm_per_second : load.calm_per_second);
  const CallTimes times = clients_.TakeGoodTimes();
  if (phase_ == Phase::kStorm) record_.SetStormTimes(times);
  phase_ = phase;
}

void LoadRun::Count(Instant now) {
  record_.Add({now - start_, clients_.counts(), service_.arrived() - arrived_before_});
  while (next_count_ <= now) next_count_ = next_count_ + kCountEvery;
}

}  // namespace levee::demo
