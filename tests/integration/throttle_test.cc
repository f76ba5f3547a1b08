// SPDX-License-Identifier: Apache-2.0
// Adaptive throttling through the binary: row S9 of the contract on storms.
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A service that does as many calls at a time as it has slots, in the order in which they came. It
// works on a call to the end, even if its caller has gone. Thread-safe.
class LimitedService {
 public:
  LimitedService(int slots, milliseconds work)
      : work_(work),
        free_at_(static_cast<size_t>(slots)),
        service_([this](const SeenCall& call) { return Answer{.delay = Work(call.at)}; }) {}

  // Only `slots` of the slots work for `length`.
  void Cut(size_t slots, milliseconds length) {
    const std::lock_guard lock(mutex_);
    const auto until = steady_clock::now() + length;
    for (size_t i = slots; i < free_at_.size(); ++i) free_at_[i] = std::max(free_at_[i], until);
  }

  const FaultyService& service() const { return service_; }

 private:
  // Returns the time until the work on a call that came at `at` is done.
  milliseconds Work(steady_clock::time_point at) {
    const std::lock_guard lock(mutex_);
    auto& slot = *std::min_element(free_at_.begin(), free_at_.end());
    slot = std::max(slot, at) + work_;
    return std::chrono::ceil<milliseconds>(slot - at);
  }

  const milliseconds work_;
  std::mutex mutex_;
  std::vector<steady_clock::time_point> free_at_;
  FaultyService service_;
};

// The parts of the load, one after the other: each begins kPart after the one before, and its calls
// end later.
constexpr milliseconds kPart(500);
constexpr int kCallsPerPart = 54;
constexpr int kCalmParts = 4, kCutParts = 6, kLaterParts = 12;

void PassUntil(steady_clock::time_point time) {
  const auto left = std::chrono::ceil<milliseconds>(time - steady_clock::now());
  if (left.count() > 0) poll(nullptr, 0, static_cast<int>(left.count()));
}

// A service at 90% of its capacity, 12 slots of 100 ms, that loses more than half of it for three
// seconds, behind a sidecar with these fields of its policy. Returns the calls of each part that
// were good.
std::vector<int> GoodCalls(const std::string& retry, const std::string& throttle) {
  LimitedService limited(12, milliseconds(100));
  SidecarProcess sidecar({.endpoints = {limited.service().address()},
                          .retry = retry,
                          .policy = ", throttle: " + throttle});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  std::vector<std::future<std::map<StatusCode, int>>> running;
  const auto begin = steady_clock::now();
  for (int i = 0; i < kCalmParts + kCutParts + kLaterParts; ++i) {
    PassUntil(begin + i * kPart);
    if (i == kCalmParts) limited.Cut(5, kCutParts * kPart);
    running.push_back(std::async(std::launch::async, [&channel] {
      return RunLoad({channel}, {.calls = kCallsPerPart,
                                 .per_second = kCallsPerPart * (1000.0 / kPart.count()),
                                 .deadline = milliseconds(500)});
    }));
  }
  std::vector<int> good;
  for (auto& part : running) good.push_back(part.get()[StatusCode::OK]);
  return good;
}

int Sum(const std::vector<int>& good, int first, int parts) {
  int sum = 0;
  for (int i = first; i < first + parts; ++i) sum += good[static_cast<size_t>(i)];
  return sum;
}

// The fault is a third as long as that of the contract, and so is the throttle's window.
TEST(Throttle, S9_AnOverloadedServiceIsBackSoonerThanWithoutRetries) {
  auto plain =
      std::async(std::launch::async, [] { return GoodCalls("{max_attempts: 1}", "none"); });
  const std::vector<int> throttled =
      GoodCalls("{failures: [refused, connect, timeout]}", "{mode: enforce, window: 1s}");
  const std::vector<int> unhelped = plain.get();
  SCOPED_TRACE("good calls of each part: " + testing::PrintToString(throttled) +
               ", without: " + testing::PrintToString(unhelped));
  constexpr int kAfter = kCalmParts + kCutParts;
  // In the six seconds after the fault.
  EXPECT_GE(Sum(throttled, kAfter, kLaterParts), 1.5 * Sum(unhelped, kAfter, kLaterParts));
  EXPECT_GE(Sum(throttled, kAfter, kLaterParts), 0.3 * kLaterParts * kCallsPerPart);
  // In the last two of them it is back; without it, it is not.
  EXPECT_GE(Sum(throttled, kAfter + kLaterParts - 4, 4), 0.8 * 4 * kCallsPerPart);
  EXPECT_LE(Sum(unhelped, kAfter + kLaterParts - 4, 4), 0.5 * 4 * kCallsPerPart);
}

}  // namespace
}  // namespace levee
