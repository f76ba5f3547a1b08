// SPDX-License-Identifier: Apache-2.0
// A real gRPC server whose answers a test writes.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/grpcpp.h"

namespace levee {

using Fields = std::multimap<std::string, std::string>;
using FieldList = std::vector<std::pair<std::string, std::string>>;

// The values of one name, in their order, joined by ", "; "" if there is none.
std::string Values(const Fields& fields, const std::string& name);

// The head of a call as it arrived at the service.
struct SeenCall {
  int number = 0;  // 1-based, in the order of arrival
  std::string method;
  std::string authority;
  Fields metadata;
  std::chrono::system_clock::time_point deadline;
  std::chrono::steady_clock::time_point at;
};

// The service's answer to a call.
struct Answer {
  grpc::Status status;                 // not OK: sent at once, unless `read_first`
  bool read_first = false;             // a failure is sent only once the request is read to its end
  int fail_after = -1;                 // messages sent before the failure; -1: none
  std::chrono::milliseconds delay{0};  // before anything is done
  bool send_head = false;              // the response head leaves at once, by itself
  FieldList head;
  FieldList trailers;
};

// Serves any method with bytes for messages; what it does depends on the method's last part:
//   Unary    answers with the message
//   Collect  reads all messages, answers with their concatenation
//   Stream   reads "COUNT SIZE", answers with COUNT messages of SIZE bytes
//   Chat     answers each message with itself, and ends as the caller half-closes
//   Eager    answers the first message and ends, whether or not the caller has
//   Sink     reads nothing before Release; then answers with the number of bytes
//   Sleep    never answers
// Thread-safe. Every call ends by its deadline, by cancellation, or in the destructor.
class FaultyService {
 public:
  using Script = std::function<Answer(const SeenCall&)>;

  struct Options {
    int port = 0;                   // 0: the system's choice
    std::string at = "127.0.0.1";   // or another address of loopback, or "unix:PATH"
    int max_streams = 0;            // per connection; 0: no limit
    int max_connection_age_ms = 0;  // after which a connection gets a graceful GOAWAY; 0: none
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
  };
  FaultyService(Script script, const Options& options);
  explicit FaultyService(Script script) : FaultyService(std::move(script), Options()) {}
  // One that does not fail.
  FaultyService() : FaultyService([](const SeenCall&) { return Answer(); }) {}
  ~FaultyService();

  const std::string& address() const { return address_; }
  int port() const { return port_; }

  int calls() const { return calls_; }
  int cancelled() const { return cancelled_; }
  int64_t messages_written() const { return messages_written_; }
  int64_t bytes_read() const { return bytes_read_; }

  // The heads of all calls so far, in their order.
  std::vector<SeenCall> seen() const;

  // GOAWAY for all connections; returns when the calls in flight have ended.
  void ShutDownGracefully();

  // Lets every Sink read.
  void Release();

  // Waits until `condition` holds; false after kPatience. Asked, under the lock of seen(), whenever
  // something happens here.
  bool WaitFor(const std::function<bool()>& condition) const;

 private:
  class Rpc;
  class Service;

  void Happened() const;

  const Script script_;
  std::atomic<int> calls_ = 0;
  std::atomic<int> cancelled_ = 0;
  std::atomic<int64_t> messages_written_ = 0;
  std::atomic<int64_t> bytes_read_ = 0;

  mutable std::mutex mutex_;
  mutable std::condition_variable happened_;
  std::vector<SeenCall> seen_;
  bool released_ = false;
  std::vector<Rpc*> held_;

  void Start(const Options& options);

  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  int port_ = 0;
};

// Scripts.
Answer Fails(grpc::StatusCode code, const std::string& message = "scripted");
// The first `n` calls fail with UNAVAILABLE.
FaultyService::Script FailFirst(int n);
// Every call fails.
FaultyService::Script AlwaysFail();

}  // namespace levee
