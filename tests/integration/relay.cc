// SPDX-License-Identifier: Apache-2.0
#include "integration/relay.h"

#include <chrono>
#include <mutex>
#include <vector>

#include "gtest/gtest.h"
#include "integration/child.h"

namespace levee {

// One call. Deletes itself when gRPC is done with it.
class Relay::Rpc : public grpc::ServerGenericBidiReactor {
 public:
  Rpc(const Relay& relay, const grpc::GenericCallbackServerContext& served)
      : relay_(relay), served_(served) {
    StartRead(&message_);
  }

 private:
  void OnReadDone(bool ok) override {
    if (ok) {
      Call();
    } else {
      Finish({grpc::StatusCode::INTERNAL, "a call without a message"});
    }
  }

  void Call() {
    ++attempts_;
    grpc::ClientContext* const context = NewContext();
    context->set_deadline(std::chrono::system_clock::now() + kPatience);
    for (const auto& [name, value] : served_.client_metadata()) {
      if (name == kCallNumber || (relay_.traces_ && name == "traceparent")) {
        context->AddMetadata(std::string(name.data(), name.size()),
                             std::string(value.data(), value.size()));
      }
    }
    relay_.next_->UnaryCall(context, served_.method(), {}, &message_, &answer_,
                            [this](const grpc::Status& status) { End(status); });
  }

  // Returns the context of the next call, which lives as long as this.
  grpc::ClientContext* NewContext() {
    const std::lock_guard lock(mutex_);
    contexts_.push_back(std::make_unique<grpc::ClientContext>());
    if (cancelled_) contexts_.back()->TryCancel();
    return contexts_.back().get();
  }

  void End(const grpc::Status& status) {
    if (status.ok()) {
      StartWriteAndFinish(&answer_, {}, status);
    } else if (attempts_ < relay_.attempts_) {
      Call();
    } else {
      Finish({status.error_code(), "the layer below failed"});
    }
  }

  // To cancel may run End in this thread.
  void OnCancel() override {
    if (!relay_.cancels_) return;
    grpc::ClientContext* last = nullptr;
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      if (!contexts_.empty()) last = contexts_.back().get();
    }
    if (last != nullptr) last->TryCancel();
  }
  void OnDone() override { delete this; }

  const Relay& relay_;
  const grpc::GenericCallbackServerContext& served_;
  std::mutex mutex_;  // of the two that follow
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts_;
  bool cancelled_ = false;
  int attempts_ = 0;
  grpc::ByteBuffer message_;
  grpc::ByteBuffer answer_;
};

class Relay::Service : public grpc::CallbackGenericService {
 public:
  explicit Service(const Relay& relay) : relay_(relay) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Rpc(relay_, *context);
  }

 private:
  const Relay& relay_;
};

Relay::Relay(bool traces, bool cancels, int attempts)
    : traces_(traces),
      cancels_(cancels),
      attempts_(attempts),
      service_(std::make_unique<Service>(*this)) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(service_.get());
  server_ = builder.BuildAndStart();
  EXPECT_NE(server_, nullptr);
  address_ = "127.0.0.1:" + std::to_string(port);
}

Relay::~Relay() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
}

void Relay::SetNext(const ChannelPtr& next) { next_ = std::make_unique<grpc::GenericStub>(next); }

}  // namespace levee
