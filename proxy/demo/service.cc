// SPDX-License-Identifier: Apache-2.0
#include "demo/service.h"

#include <charconv>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "net/event_loop.h"

namespace levee::demo {
namespace {

constexpr char kPreviousAttempts[] = "grpc-previous-rpc-attempts";

int Attempt(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto previous = metadata.find(kPreviousAttempts);
  int attempts = 0;
  if (previous != metadata.end()) {
    std::from_chars(previous->second.begin(), previous->second.end(), attempts);
  }
  return attempts + 1;
}

// Returns a price. Any price will do, as long as the same item always costs the same.
int64_t Cents(const std::string& item) {
  int64_t cents = 199;
  for (const char c : item) cents = (cents * 31 + static_cast<unsigned char>(c)) % 10'000;
  return cents;
}

grpc::Status ToStatus(Verdict verdict, absl::Duration took) {
  switch (verdict) {
    case Verdict::kOk:
      return grpc::Status::OK;
    case Verdict::kFault:
      return {grpc::StatusCode::UNAVAILABLE, "a fault that was switched on"};
    case Verdict::kTooLate:
      return {grpc::StatusCode::UNAVAILABLE, absl::StrFormat("done after %d ms, which is too late",
                                                             absl::ToInt64Milliseconds(took))};
    case Verdict::kLineFull:
      return {grpc::StatusCode::UNAVAILABLE, "too many requests are waiting"};
    case Verdict::kStopped:
      return {grpc::StatusCode::UNAVAILABLE, "the service stops"};
  }
  return {grpc::StatusCode::INTERNAL, ""};
}

void FinishAll(std::vector<ServiceModel::Ended>& ended) {
  for (auto& request : ended) request.finish(request.verdict, request.took);
  ended.clear();
}

}  // namespace

class DemoService::Shop : public v1::Shop::CallbackService {
 public:
  explicit Shop(DemoService& service) : service_(service) {}

  grpc::ServerUnaryReactor* GetPrice(grpc::CallbackServerContext* context,
                                     const v1::GetPriceRequest* request,
                                     v1::GetPriceReply* reply) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    service_.GetPrice(*context, *request, *reply, *reactor);
    return reactor;
  }

 private:
  DemoService& service_;
};

class DemoService::Faults : public v1::Faults::CallbackService {
 public:
  explicit Faults(DemoService& service) : service_(service) {}

  grpc::ServerUnaryReactor* Set(grpc::CallbackServerContext* context, const v1::FaultSet* request,
                                v1::FaultSet* reply) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    if (!IsShare(request->failing()) || !IsShare(request->workers_down())) {
      reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT, "a share is a number from 0 to 1"});
      return reactor;
    }
    service_.SetFaults({request->failing(), request->workers_down()});
    *reply = *request;
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  DemoService& service_;
};

DemoService::DemoService(const Capacity& capacity, uint64_t seed) : model_(capacity, seed) {
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  // gRPC sets SO_REUSEADDR, so the system may give the same port to two programs that ask for any
  // port at once. The second one to listen on it is refused and has to ask again.
  constexpr int kPortsAskedFor = 5;
  int port = 0;
  for (int i = 0; i < kPortsAskedFor && port == 0; ++i) port = Listen();
  if (port == 0) return;
  address_ = absl::StrCat("127.0.0.1:", port);
  worker_ = std::thread([this] { Work(); });
}

int DemoService::Listen() {
  shop_ = std::make_unique<Shop>(*this);
  faults_ = std::make_unique<Faults>(*this);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(shop_.get());
  builder.RegisterService(faults_.get());
  server_ = builder.BuildAndStart();
  return server_ == nullptr ? 0 : port;
}

DemoService::~DemoService() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (worker_.joinable()) worker_.join();
  // Waits until every call has ended. No call waits for the worker any more.
  if (server_ != nullptr) server_->Shutdown(gpr_time_0(GPR_TIMESPAN));
}

void DemoService::GetPrice(grpc::CallbackServerContext& context, const v1::GetPriceRequest& request,
                           v1::GetPriceReply& reply, grpc::ServerUnaryReactor& reactor) {
  arrived_.fetch_add(1, std::memory_order_relaxed);
  reply.set_item(request.item());
  reply.set_cents(Cents(request.item()));
  reply.set_attempt(Attempt(context));
  // The reactor and the reply live until Finish.
  auto finish = [&reply, &reactor](Verdict verdict, absl::Duration took) {
    reply.set_took_ms(absl::ToDoubleMilliseconds(took));
    reactor.Finish(ToStatus(verdict, took));
  };
  std::vector<ServiceModel::Ended> ended;
  bool sooner = false;
  {
    const std::lock_guard lock(mutex_);
    const Instant now = net::ReadClock();
    const Instant next = model_.NextEnd();
    model_.Arrive(now, std::move(finish), ended);
    if (stopping_) model_.Stop(now, ended);
    sooner = model_.NextEnd() < next;
  }
  if (sooner) wake_.notify_one();
  FinishAll(ended);
}

void DemoService::SetFaults(const FaultShares& faults) {
  {
    const std::lock_guard lock(mutex_);
    model_.SetFaults(faults);
  }
  wake_.notify_one();
}

FaultShares DemoService::faults() const {
  const std::lock_guard lock(mutex_);
  return model_.faults();
}

void DemoService::Work() {
  std::vector<ServiceModel::Ended> ended;
  std::unique_lock lock(mutex_);
  while (true) {
    const Instant now = net::ReadClock();
    model_.Advance(now, ended);
    if (stopping_) model_.Stop(now, ended);
    if (!ended.empty()) {
      lock.unlock();
      FinishAll(ended);
      lock.lock();
      continue;
    }
    if (stopping_) return;
    const Instant next = model_.NextEnd();
    if (next.is_infinite()) {
      wake_.wait(lock);
    } else {
      wake_.wait_for(lock, std::chrono::nanoseconds(next.nanos() - now.nanos()));
    }
  }
}

}  // namespace levee::demo
