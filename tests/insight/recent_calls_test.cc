// SPDX-License-Identifier: Apache-2.0
#include "insight/recent_calls.h"

#include <atomic>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace levee {
namespace {

Instant At(int64_t second) { return Instant::FromNanos(second * 1'000'000'000); }

CallRecord RetriedCall(int64_t end_second) {
  CallRecord record;
  record.end = At(end_second);
  record.attempts.push_back({.endpoint = 3, .code = StatusCode::kUnavailable});
  record.attempts.push_back({.code = StatusCode::kOk, .trigger = RetryTrigger::kStatus});
  return record;
}

std::string NameOf(int64_t endpoint) { return "10.0.0." + std::to_string(endpoint) + ":1"; }

void AddOne(RecentCalls& calls, int64_t end_second, std::string_view path = "/a.A/A") {
  calls.Add({.path = path}, RetriedCall(end_second), NameOf);
}

TEST(RecentCalls, WantsWhatWasRetriedOrRefused) {
  CallRecord plain;
  plain.code = StatusCode::kUnavailable;
  plain.attempts.push_back({.code = StatusCode::kUnavailable});
  plain.rate_limit = {.checked = true, .delayed_by = 0};
  EXPECT_FALSE(RecentCalls::Wants(plain));
  EXPECT_TRUE(RecentCalls::Wants(RetriedCall(0)));
  CallRecord refused = plain;
  refused.refused = RefusalReason::kBudget;
  EXPECT_TRUE(RecentCalls::Wants(refused));
  CallRecord limited = plain;
  limited.rate_limit.refused_by = 0;
  EXPECT_TRUE(RecentCalls::Wants(limited));
  CallRecord app_retry = plain;
  app_retry.app_retry_refused = true;
  EXPECT_TRUE(RecentCalls::Wants(app_retry));
}

TEST(RecentCalls, RemembersWhatItWasGiven) {
  RecentCalls calls;
  const absl::Time start = absl::FromUnixSeconds(1000);
  calls.Add({.start = start,
             .listener = "egress",
             .upstream = "cart",
             .authority = "cart.shop:1",
             .path = "/shop.Cart/Add",
             .message = "no",
             .trace_id = "4bf9"},
            RetriedCall(7), NameOf);
  const auto read = calls.Read(At(0));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].start, start);
  EXPECT_EQ(read[0].record.end, At(7));
  EXPECT_EQ(read[0].record.attempts.size(), 2u);
  EXPECT_EQ(read[0].endpoints, (std::vector<std::string>{"10.0.0.3:1", ""}));
  EXPECT_EQ(read[0].listener, "egress");
  EXPECT_EQ(read[0].upstream, "cart");
  EXPECT_EQ(read[0].authority, "cart.shop:1");
  EXPECT_EQ(read[0].method, "shop.Cart/Add");
  EXPECT_EQ(read[0].message, "no");
  EXPECT_EQ(read[0].trace_id, "4bf9");
}

TEST(RecentCalls, ReadsOnlyThoseThatEndedAfterAMoment) {
  RecentCalls calls;
  for (int64_t second : {1, 2, 3}) AddOne(calls, second);
  const auto read = calls.Read(At(1));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].record.end, At(2));
  EXPECT_EQ(read[1].record.end, At(3));
}

TEST(RecentCalls, TheOldestMakesRoom) {
  RecentCalls calls;
  for (int64_t second = 1; second <= 103; ++second) AddOne(calls, second);
  const auto read = calls.Read(At(0));
  ASSERT_EQ(read.size(), 100u);
  EXPECT_EQ(read.front().record.end, At(4));
  EXPECT_EQ(read.back().record.end, At(103));
}

TEST(RecentCalls, AShorterCallLeavesNothingOfTheOneBefore) {
  RecentCalls calls;
  for (size_t i = 0; i < RecentCalls::kKept; ++i) AddOne(calls, 1, "/long.Long/Method");
  CallRecord record;
  record.end = At(2);
  calls.Add({.path = "/b"}, record, NameOf);
  const auto read = calls.Read(At(1));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].method, "b");
  EXPECT_TRUE(read[0].endpoints.empty());
  EXPECT_TRUE(read[0].record.attempts.empty());
}

// How many of those that end every `spacing` from `from` on are admitted, up to `to`.
int Admitted(RecentCallsGate& gate, Instant from, Instant to, absl::Duration spacing) {
  int admitted = 0;
  for (Instant now = from; now < to; now = now + spacing) admitted += gate.Admit(now) ? 1 : 0;
  return admitted;
}

TEST(RecentCallsGate, ABurstThatFillsTheRingIsAdmitted) {
  RecentCallsGate gate;
  int admitted = 0;
  for (int i = 0; i < 1000; ++i) admitted += gate.Admit(At(5)) ? 1 : 0;
  EXPECT_EQ(admitted, 100);
}

TEST(RecentCallsGate, InAStormAHundredASecondAreAdmittedEvenlySpread) {
  RecentCallsGate gate;
  EXPECT_EQ(Admitted(gate, At(5), At(6), absl::Microseconds(100)), 199);
  EXPECT_EQ(Admitted(gate, At(6), At(16), absl::Microseconds(100)), 1000);
  EXPECT_EQ(Admitted(gate, At(16), At(16) + absl::Milliseconds(100), absl::Microseconds(100)), 10);
}

TEST(RecentCallsGate, WhatIsRarerIsAllAdmitted) {
  RecentCallsGate gate;
  EXPECT_EQ(Admitted(gate, At(0), At(10), absl::Milliseconds(10)), 1000);
}

TEST(RecentCallsGate, QuietTimeIsNotSavedUp) {
  RecentCallsGate gate;
  Admitted(gate, At(0), At(1), absl::Milliseconds(1));
  EXPECT_EQ(Admitted(gate, At(60), At(60) + absl::Milliseconds(1), absl::Microseconds(1)), 100);
}

TEST(RecentCallsConcurrency, ReadersSeeWholeCallsWhileWorkersAdd) {
  RecentCalls calls;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done.load()) {
      for (const RememberedCall& call : calls.Read(At(0))) {
        EXPECT_EQ(call.method, call.record.end == At(1) ? "one" : "two");
      }
    }
  });
  std::thread one([&] {
    for (int i = 0; i < 5000; ++i) AddOne(calls, 1, "/one");
  });
  std::thread two([&] {
    for (int i = 0; i < 5000; ++i) AddOne(calls, 2, "/two");
  });
  one.join();
  two.join();
  done.store(true);
  reader.join();
  EXPECT_EQ(calls.Read(At(0)).size(), RecentCalls::kKept);
}

TEST(RecentCallsConcurrency, ReadersSeeThemInTheirOrderWhileTheOldestMakeRoom) {
  RecentCalls calls;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done.load()) {
      Instant last = At(0);
      for (const RememberedCall& call : calls.Read(At(0))) {
        EXPECT_GT(call.record.end, last);
        last = call.record.end;
      }
    }
  });
  for (int64_t second = 1; second <= 20'000; ++second) AddOne(calls, second);
  done.store(true);
  reader.join();
}

}  // namespace
}  // namespace levee
