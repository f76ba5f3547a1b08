// SPDX-License-Identifier: Apache-2.0
#include "insight/recent_calls.h"

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"

namespace levee {
namespace {

Instant AtSecond(int64_t second) { return Instant::FromNanos(second * 1'000'000'000); }

CallRecord RetriedCall(int64_t end_second) {
  CallRecord record;
  record.end = AtSecond(end_second);
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
  const auto read = calls.Read(0);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].start, start);
  EXPECT_EQ(read[0].record.end, AtSecond(7));
  EXPECT_EQ(read[0].record.attempts.size(), 2u);
  EXPECT_EQ(read[0].endpoints, (std::vector<std::string>{"10.0.0.3:1", ""}));
  EXPECT_EQ(read[0].listener, "egress");
  EXPECT_EQ(read[0].upstream, "cart");
  EXPECT_EQ(read[0].authority, "cart.shop:1");
  EXPECT_EQ(read[0].method, "shop.Cart/Add");
  EXPECT_EQ(read[0].message, "no");
  EXPECT_EQ(read[0].trace_id, "4bf9");
}

TEST(RecentCalls, ReadsOnlyThoseAfterACall) {
  RecentCalls calls;
  for (int64_t second : {1, 2, 3}) AddOne(calls, second);
  const auto read = calls.Read(1);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].id, 2u);
  EXPECT_EQ(read[0].record.end, AtSecond(2));
  EXPECT_EQ(read[1].record.end, AtSecond(3));
  EXPECT_TRUE(calls.Read(3).empty());
}

TEST(RecentCalls, TheOldestMakesRoom) {
  RecentCalls calls;
  const auto kept = static_cast<int64_t>(RecentCalls::kKept);
  for (int64_t second = 1; second <= kept + 3; ++second) AddOne(calls, second);
  const auto read = calls.Read(0);
  ASSERT_EQ(read.size(), RecentCalls::kKept);
  EXPECT_EQ(read.front().record.end, AtSecond(4));
  EXPECT_EQ(read.back().record.end, AtSecond(kept + 3));
}

TEST(RecentCalls, AShorterCallLeavesNothingOfTheOneBefore) {
  RecentCalls calls;
  const auto kept = static_cast<int64_t>(RecentCalls::kKept);
  for (int64_t second = 1; second <= kept; ++second) AddOne(calls, second, "/long.Long/Method");
  CallRecord record;
  record.end = AtSecond(kept + 1);
  calls.Add({.path = "/b"}, record, NameOf);
  const auto read = calls.Read(RecentCalls::kKept);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].method, "b");
  EXPECT_TRUE(read[0].endpoints.empty());
  EXPECT_TRUE(read[0].record.attempts.empty());
}

TEST(RecentCalls, LongTextsAreCut) {
  RecentCalls calls;
  const std::string text(5000, 'x');
  calls.Add({.authority = text, .path = text, .message = text}, RetriedCall(1), NameOf);
  const RememberedCall call = calls.Read(0).at(0);
  EXPECT_EQ(call.authority.size(), RecentCalls::kTextBytes);
  EXPECT_EQ(call.method.size(), RecentCalls::kTextBytes);
  EXPECT_EQ(call.message.size(), RecentCalls::kTextBytes);
}

CallRecord CallOf(RememberedKind kind, Instant end) {
  CallRecord record;
  record.end = end;
  record.code = kind == RememberedKind::kRescued ? StatusCode::kOk : StatusCode::kUnavailable;
  if (kind == RememberedKind::kRefused) record.refused = RefusalReason::kBudget;
  if (kind == RememberedKind::kLimited) record.rate_limit.refused_by = 0;
  if (kind == RememberedKind::kGuarded) record.guard.decision = GuardDecision::kRefused;
  return record;
}

constexpr RememberedKind kKinds[] = {RememberedKind::kRescued, RememberedKind::kLimited,
                                     RememberedKind::kRefused, RememberedKind::kGuarded,
                                     RememberedKind::kFailed};

TEST(RecentCalls, InAStormOfEveryKindEachSecondOfFiveMinutesHasEachKind) {
  RecentCalls calls;
  for (int i = 0; i < 300 * 100; ++i) {
    const Instant now = AtSecond(1000) + i * absl::Milliseconds(10);
    for (const RememberedKind kind : kKinds) calls.Add({.path = "/a"}, CallOf(kind, now), NameOf);
  }
  std::map<std::pair<int64_t, RememberedKind>, int> kept;
  for (const RememberedCall& call : calls.Read(0)) {
    ++kept[{(call.record.end - AtSecond(1000)) / absl::Seconds(1), KindOf(call.record)}];
  }
  for (int64_t second = 0; second < 300; ++second) {
    for (const RememberedKind kind : kKinds) {
      const int count = kept[{second, kind}];
      EXPECT_EQ(count, second == 0 ? RecentCallsGate::kAtOnce : 1) << "second " << second;
    }
  }
}

TEST(RecentCalls, AStormOfOneKindLeavesTheOthersWhole) {
  RecentCalls calls;
  AddOne(calls, 1000, "/first");
  for (int i = 0; i < 300 * 100; ++i) {
    const Instant now = AtSecond(1000) + i * absl::Milliseconds(10);
    calls.Add({.path = "/a"}, CallOf(RememberedKind::kRefused, now), NameOf);
  }
  AddOne(calls, 1300, "/last");
  EXPECT_EQ(calls.Read(0).front().method, "first");
  EXPECT_EQ(calls.Read(0).back().method, "last");
}

// How many of the calls of one kind that end every `spacing` from `from` on are admitted, up to
// `to`.
int Admitted(RecentCallsGate& gate, Instant from, Instant to, absl::Duration spacing) {
  int admitted = 0;
  for (Instant now = from; now < to; now = now + spacing) {
    admitted += gate.Admit(RememberedKind::kRefused, now) ? 1 : 0;
  }
  return admitted;
}

TEST(RecentCallsGate, WhatIsRarerIsAllAdmitted) {
  RecentCallsGate gate;
  EXPECT_EQ(Admitted(gate, AtSecond(0), AtSecond(100), absl::Seconds(1)), 100);
}

TEST(RecentCallsGate, QuietTimeIsNotSavedUp) {
  RecentCallsGate gate;
  Admitted(gate, AtSecond(0), AtSecond(1), absl::Milliseconds(1));
  EXPECT_EQ(
      Admitted(gate, AtSecond(60), AtSecond(60) + absl::Milliseconds(1), absl::Microseconds(1)),
      RecentCallsGate::kAtOnce);
}

TEST(RecentCallsConcurrency, ReadersSeeWholeCallsWhileWorkersAdd) {
  RecentCalls calls;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done.load()) {
      for (const RememberedCall& call : calls.Read(0)) {
        EXPECT_EQ(call.method, call.record.attempts.size() == 2 ? "one" : "two");
      }
    }
  });
  std::thread one([&] {
    for (int i = 0; i < 5000; ++i) AddOne(calls, i, "/one");
  });
  std::thread two([&] {
    for (int i = 0; i < 5000; ++i) {
      calls.Add({.path = "/two"}, CallOf(RememberedKind::kRefused, AtSecond(i)), NameOf);
    }
  });
  one.join();
  two.join();
  done.store(true);
  reader.join();
  EXPECT_EQ(calls.Read(0).size(), RecentCalls::kKept);
}

TEST(RecentCallsConcurrency, ReadersSeeThemInTheirOrderWhileTheOldestMakeRoom) {
  RecentCalls calls;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done.load()) {
      Instant last = AtSecond(0);
      for (const RememberedCall& call : calls.Read(0)) {
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
