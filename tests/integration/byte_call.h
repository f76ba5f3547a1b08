// SPDX-License-Identifier: Apache-2.0
// Calls by a real gRPC client, in straight lines.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "integration/child.h"
#include "integration/faulty_service.h"

namespace levee {

using ChannelPtr = std::shared_ptr<grpc::Channel>;

// A channel with a connection of its own and without gRPC's retries, so that every attempt at the
// service is the sidecar's.
ChannelPtr NewChannel(const std::string& target, grpc::ChannelArguments arguments = {},
                      const std::shared_ptr<grpc::ChannelCredentials>& credentials =
                          grpc::InsecureChannelCredentials());

// A channel whose connection has been made.
// gRPC's client looks at errno some time after connect(), when its thread may have overwritten it,
// and then takes a connection that is on its way for a failed one. Until it tries again, all calls
// fail at once, and a load may be over before one of them has left the client.
ChannelPtr ConnectedChannel(const std::string& target);

// A call of any type. Every function waits for what it starts; the call's deadline (kPatience,
// unless the context is given another) bounds it. One thread.
class ByteCall {
 public:
  ByteCall(const ChannelPtr& channel, const std::string& method);
  // Cancels the call if it has not been finished.
  ~ByteCall();
  ByteCall(const ByteCall&) = delete;
  ByteCall& operator=(const ByteCall&) = delete;

  // To be changed before Start.
  grpc::ClientContext& context() { return context_; }

  bool Start();
  bool Write(const std::string& message);
  bool HalfClose();
  bool ReadHead();
  std::optional<std::string> Read();
  grpc::Status Finish();

  // Write in two steps: false from WaitWritten only if the call is over.
  void BeginWrite(const std::string& message);
  bool WaitWritten() { return Wait(Op::kWrite); }

  Fields head() const;
  Fields trailers() const;

 private:
  enum class Op { kStart, kWrite, kHalfClose, kHead, kRead, kFinish };
  static constexpr int kOps = 6;

  void* Begin(Op op);
  bool Wait(Op op);

  const std::string method_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  std::array<bool, kOps> pending_{};
  std::array<bool, kOps> result_{};
  grpc::Status status_;
  bool finished_ = false;
};

// The answer that the caller of a unary call gets.
struct Reply {
  grpc::Status status;
  std::string body;
  Fields head;
  Fields trailers;
};
using Setup = std::function<void(grpc::ClientContext&)>;
Reply CallUnary(const ChannelPtr& channel, const std::string& body = "hello",
                const Setup& setup = nullptr, const std::string& method = "/test.Echo/Unary");

// Gives a call an idempotency key.
Setup WithKey(const std::string& key);

// Many unary calls, spread over the channels.
struct Load {
  struct Ended {
    int number;  // of the call, from 0
    std::chrono::steady_clock::time_point begun;
    grpc::StatusCode code;
  };

  int calls = 0;
  double per_second = 0;  // 0: whenever one of `at_once` ends
  int at_once = 16;
  std::chrono::milliseconds deadline = kPatience;
  std::string method = "/test.Echo/Unary";
  std::string body = "load";
  // Both may be empty, and are called in the thread of RunLoad.
  std::function<void(int number, grpc::ClientContext&)> setup;
  std::function<void(const Ended&)> on_end;
};
std::map<grpc::StatusCode, int> RunLoad(const std::vector<ChannelPtr>& channels, const Load& load);

}  // namespace levee
