// SPDX-License-Identifier: Apache-2.0
// A call whose messages are bytes, for services whose messages are not generated here.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace levee {

// Each function waits for what it asks for.
class RawCall {
 public:
  RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
          const std::string& request);
  // Cancels the call.
  ~RawCall();
  RawCall(const RawCall&) = delete;
  RawCall& operator=(const RawCall&) = delete;

  // The next message; nullopt if there is no more.
  std::optional<std::string> Read();
  grpc::Status Finish();
  void Cancel() { context_.TryCancel(); }

 private:
  bool Wait();

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  bool finished_ = false;
};

// The first message that answers `request`; its absence fails the test.
std::string AskRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                   const std::string& request);

}  // namespace levee
