// SPDX-License-Identifier: Apache-2.0
// A real gRPC application in the middle of a chain.
#pragma once

#include <memory>
#include <string>

#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/grpcpp.h"
#include "integration/byte_call.h"

namespace levee {

// The number of a call at the top of a chain. Every relay sends it on, and Levee knows nothing of
// it.
inline constexpr char kCallNumber[] = "call-number";

// An application that makes one unary call for each that it serves, and fails as that one fails. It
// drops all headers and trailers but kCallNumber, and `traceparent` if it `traces`. If it
// `cancels`, a call that it makes ends when the caller of the one that it serves has gone. It makes
// a call that fails again at once, up to `attempts` times in all, and says nothing of that. No
// thread waits for the layer below, so any number of calls can be under way.
class Relay {
 public:
  explicit Relay(bool traces, bool cancels = true, int attempts = 1);
  ~Relay();

  const std::string& address() const { return address_; }
  // Before the first call. `next`: where its calls go.
  void SetNext(const ChannelPtr& next);

 private:
  class Rpc;
  class Service;

  const bool traces_;
  const bool cancels_;
  const int attempts_;
  std::unique_ptr<grpc::GenericStub> next_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace levee
