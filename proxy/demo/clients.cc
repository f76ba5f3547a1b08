// SPDX-License-Identifier: Apache-2.0
#include "demo/clients.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "net/event_loop.h"

namespace levee::demo {
namespace {

constexpr int kClients = 4;
constexpr char kRetryPolicy[] = R"({"methodConfig": [{"name": [{}], "retryPolicy": {
  "maxAttempts": 3, "initialBackoff": "0.025s", "backoffMultiplier": 2, "maxBackoff": "1s",
  "retryableStatusCodes": [)";
constexpr char kEndOfRetryPolicy[] = "]}}]}";

grpc::ChannelArguments Arguments(ClientRetries retries) {
  grpc::ChannelArguments arguments;
  // Equal channels would share one connection, and a proxy from the environment would be a third
  // party in the measurement.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  switch (retries) {
    case ClientRetries::kNone:
      arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
      break;
    case ClientRetries::kThreeAttempts:
      arguments.SetServiceConfigJSON(
          absl::StrCat(kRetryPolicy, R"("UNAVAILABLE")", kEndOfRetryPolicy));
      break;
    case ClientRetries::kThreeAttemptsAlsoIfExhausted:
      arguments.SetServiceConfigJSON(
          absl::StrCat(kRetryPolicy, R"("UNAVAILABLE", "RESOURCE_EXHAUSTED")", kEndOfRetryPolicy));
      break;
  }
  return arguments;
}

}  // namespace

struct Clients::Call {
  Instant begun = net::ReadClock();
  grpc::ClientContext context;
  v1::GetPriceRequest request;
  v1::GetPriceReply reply;
};

Clients::Clients(const std::string& address, ClientRetries retries, absl::Duration deadline)
    : deadline_(deadline) {
  for (int i = 0; i < kClients; ++i) {
    stubs_.push_back(v1::Shop::NewStub(grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), Arguments(retries))));
  }
}

Clients::~Clients() {
  std::unique_lock lock(mutex_);
  const std::vector<std::shared_ptr<Call>> active(active_.begin(), active_.end());
  lock.unlock();  // A cancelled call may end at once, which takes the lock.
  for (const auto& call : active) call->context.TryCancel();
  lock.lock();
  idle_.wait(lock, [this] { return active_.empty(); });
}

void Clients::StartCall() {
  auto call = std::make_shared<Call>();
  call->request.set_item("tea");
  call->context.set_deadline(
      gpr_time_from_millis(absl::ToInt64Milliseconds(deadline_), GPR_TIMESPAN));
  // The first calls come before their connection is there.
  call->context.set_wait_for_ready(true);
  v1::Shop::Stub* stub;
  {
    const std::lock_guard lock(mutex_);
    stub = stubs_[static_cast<size_t>(counts_.started++) % stubs_.size()].get();
    active_.insert(call);
  }
  stub->async()->GetPrice(&call->context, &call->request, &call->reply,
                          [this, call](const grpc::Status& status) { OnEnd(call, status); });
}

CallCounts Clients::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

CallTimes Clients::TakeGoodTimes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(good_times_, {});
}

void Clients::OnEnd(const std::shared_ptr<Call>& call, const grpc::Status& status) {
  const absl::Duration took = net::ReadClock() - call->begun;
  const std::lock_guard lock(mutex_);
  active_.erase(call);
  if (status.ok()) good_times_.Add(took);
  ++(status.ok() ? counts_.ok : counts_.failed);
  if (active_.empty()) idle_.notify_all();
}

}  // namespace levee::demo
