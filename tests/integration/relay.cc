// SPDX-License-Identifier: Apache-2.0
#include "integration/relay.h"

#include <chrono>

#include "gtest/gtest.h"
#include "integration/child.h"

namespace levee {

// One call. Deletes itself when gRPC is done with it.
class Relay::Rpc : public grpc::ServerGenericBidiReactor {
 public:
  Rpc(const Relay& relay, const grpc::GenericCallbackServerContext& served)
      : relay_(relay), method_(served.method()) {
    context_.set_deadline(std::chrono::system_clock::now() + kPatience);
    for (const auto& [name, value] : served.client_metadata()) {
      if (name == kCallNumber || (relay.traces_ && name == "traceparent")) {
        context_.AddMetadata(std::string(name.data(), name.size()),
                             std::string(value.data(), value.size()));
      }
    }
    StartRead(&message_);
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) {
      Finish({grpc::StatusCode::INTERNAL, "a call without a message"});
      return;
    }
    relay_.next_->UnaryCall(&context_, method_, {}, &message_, &answer_,
                            [this](const grpc::Status& status) { End(status); });
  }

  void End(const grpc::Status& status) {
    if (status.ok()) {
      StartWriteAndFinish(&answer_, {}, status);
    } else {
      Finish({status.error_code(), "the layer below failed"});
    }
  }

  void OnCancel() override {
    if (relay_.cancels_) context_.TryCancel();
  }
  void OnDone() override { delete this; }

  const Relay& relay_;
  const std::string method_;
  grpc::ClientContext context_;
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

Relay::Relay(bool traces, bool cancels)
    : traces_(traces), cancels_(cancels), service_(std::make_unique<Service>(*this)) {
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
