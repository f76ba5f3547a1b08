// SPDX-License-Identifier: Apache-2.0
// gRPC clients that call the demo's service, or Levee before it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "demo/call_times.h"
#include "grpcpp/grpcpp.h"
#include "levee/demo/v1/shop.grpc.pb.h"

namespace levee::demo {

// Counts of calls, not of attempts.
struct CallCounts {
  int64_t started = 0;
  int64_t ok = 0;
  int64_t failed = 0;
};

// The reaction of a client to a failed attempt.
enum class ClientRetries {
  kNone,
  // gRPC's own retryPolicy: 3 attempts on UNAVAILABLE with the backoff that Levee has by default,
  // and no retryThrottling, which is how it is usually written.
  kThreeAttempts,
  // The same on RESOURCE_EXHAUSTED, too.
  kThreeAttemptsAlsoIfExhausted,
};

// Several clients with a connection each, which take turns. Calls are asynchronous: starting one
// never waits for another, as with load that comes from outside. Thread-safe.
class Clients {
 public:
  static constexpr absl::Duration kDeadline = absl::Seconds(1);

  // `deadline`: of each call.
  Clients(const std::string& address, ClientRetries retries, absl::Duration deadline = kDeadline);

  // Cancels the calls that are active and waits for their ends.
  ~Clients();
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  void StartCall();
  CallCounts counts() const;
  // Returns how long the good calls took that ended since the last time.
  CallTimes TakeGoodTimes();

 private:
  struct Call;

  void OnEnd(const std::shared_ptr<Call>& call, const grpc::Status& status);

  const absl::Duration deadline_;
  std::vector<std::unique_ptr<v1::Shop::Stub>> stubs_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  absl::flat_hash_set<std::shared_ptr<Call>> active_;
  CallCounts counts_;
  CallTimes good_times_;
};

}  // namespace levee::demo
