// SPDX-License-Identifier: Apache-2.0
// What a guard does for a real gRPC service under load, through the binary: rows G1 to G8 of its
// contract, in a few seconds each. Virtual time decides them (CallGuardLoad). Here the bounds leave
// room for a busy machine, and are far from what the service does without the guard.
#include <algorithm>
#include <chrono>
#include <future>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/guarded.h"
#include "integration/slotted_service.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// 160 calls a second. The work and the queue's times are ten and five times as long as those of the
// contract, so that a pause of a busy machine is short beside them.
constexpr int kSlots = 16;
constexpr milliseconds kWork(100);
constexpr double kServedPerSecond = 160;
constexpr char kAdaptive[] = "concurrency: {initial: 16}, queue: {target: 25ms, interval: 500ms}";

// `load`: as a share of what kSlots can do.
Load Steady(double load, int for_seconds) {
  return {.calls = static_cast<int>(load * kServedPerSecond * for_seconds),
          .per_second = load * kServedPerSecond,
          .deadline = seconds(1)};
}

// The good calls of a run, by the second in which they began.
class GoodCalls {
 public:
  explicit GoodCalls(int for_seconds) : by_second_(static_cast<size_t>(for_seconds)) {}

  int SecondOf(const Load::Ended& call) const {
    return static_cast<int>((call.begun - begin_) / seconds(1));
  }
  void Count(const Load::Ended& call) {
    const auto second = static_cast<size_t>(SecondOf(call));
    if (call.code == StatusCode::OK && second < by_second_.size()) ++by_second_[second];
  }
  int In(int from, int to) const {
    int sum = 0;
    for (int i = from; i < to; ++i) sum += by_second_[static_cast<size_t>(i)];
    return sum;
  }
  void Print() const {
    for (const int good : by_second_) std::cout << good << ' ';
    std::cout << "good calls by second\n";
  }

 private:
  const Clock::time_point begin_ = Clock::now();
  std::vector<int> by_second_;
};

// Returns the good calls of seconds 1 to 3 of a load.
int GoodUnder(double load, const std::string& guard) {
  SlottedService service(kSlots, kWork);
  const GuardedServices guarded({service.address()}, guard);
  GoodCalls good(3);
  Load calls = Steady(load, 3);
  calls.on_end = [&](const Load::Ended& call) { good.Count(call); };
  RunLoad({guarded.channel}, calls);
  return good.In(1, 3);
}

TEST(GuardLoadSoak, G1_KeepsAServiceAtItsCapacityWhateverTheLoad) {
  const auto under = [](double load, const std::string& guard) {
    return std::async(std::launch::async, [=] { return GoodUnder(load, guard); });
  };
  auto half = under(0.5, kAdaptive), three = under(3, kAdaptive), ten = under(10, kAdaptive);
  auto without = under(3, "concurrency: {limit: none}");
  const int at_half = half.get(), at_three = three.get(), at_ten = ten.get();
  const int unguarded = without.get();
  std::cout << at_half << ", " << at_three << " and " << at_ten << " good calls at loads of 0.5, 3 "
            << "and 10; " << unguarded << " at 3 without a limit\n";
  EXPECT_GE(at_half, 0.97 * 0.5 * 2 * kServedPerSecond);
  EXPECT_GE(at_three, 0.6 * 2 * kServedPerSecond);
  EXPECT_GE(at_ten, 0.6 * 2 * kServedPerSecond);
  EXPECT_LE(unguarded, 0.3 * 2 * kServedPerSecond);
}

TEST(GuardLoadSoak, G2_AServiceThatLosesAndRegainsItsSlotsIsFollowed) {
  constexpr int kMany = 32, kFew = 12;
  constexpr int kLost = 1, kBack = 4, kEnd = 9;  // seconds
  SlottedService service(kMany, kWork);
  const GuardedServices guarded({service.address()}, kAdaptive);
  GoodCalls good(kEnd);
  Load load = Steady(2.0 * kMany / kSlots, kEnd);
  load.on_end = [&](const Load::Ended& call) {
    const int second = good.SecondOf(call);
    service.SetSlots(second >= kLost && second < kBack ? kFew : kMany);
    good.Count(call);
  };
  RunLoad({guarded.channel}, load);
  good.Print();
  EXPECT_GE(good.In(kBack - 1, kBack), 0.7 * kServedPerSecond * kFew / kSlots);
  EXPECT_GE(good.In(kEnd - 1, kEnd), 0.7 * kServedPerSecond * kMany / kSlots);
}

TEST(GuardLoadSoak, G3_AMethodOf1AndOneOf100MillisecondsBothGetTheirShare) {
  SlottedService service(4, [](const SeenCall& call) {
    return milliseconds(call.method.starts_with("/test.Slow/") ? 100 : 1);
  });
  const GuardedServices guarded({service.address()}, kAdaptive);
  // Half of each can be served.
  constexpr int kFast = 200, kSlow = 78, kSeconds = 4;
  const auto run = [&](int per_second, const std::string& method) {
    return RunLoad({NewChannel(guarded.address(0))}, {.calls = per_second * kSeconds,
                                                      .per_second = static_cast<double>(per_second),
                                                      .deadline = seconds(1),
                                                      .method = method})[StatusCode::OK];
  };
  auto slow_calls = std::async(std::launch::async, run, kSlow, "/test.Slow/Unary");
  const int fast = run(kFast, "/test.Fast/Unary");
  const int slow = slow_calls.get();
  const double limit = guarded.sidecar->Sum("levee_guard_limit");
  std::cout << fast << " fast and " << slow << " slow calls, limit " << limit << "\n";
  EXPECT_GE(fast, 0.6 * kFast / 2 * kSeconds);
  EXPECT_GE(slow, 0.6 * kSlow / 2 * kSeconds);
  EXPECT_LE(slow, 1.4 * kSlow / 2 * kSeconds);
  EXPECT_GE(limit, 3);
  EXPECT_LE(limit, 12);
}

// Bursts that come all at once, at four slots.
class GuardLoadBurstSoak : public testing::Test {
 protected:
  std::map<StatusCode, int> Run(int calls, int at_once) const {
    return RunLoad({guarded.channel}, {.calls = calls, .at_once = at_once, .deadline = seconds(5)});
  }
  // Makes calls that take up half of the slots.
  void ExpectCalm() const { EXPECT_EQ(Run(10, kFour / 2)[StatusCode::OK], 10); }

  static constexpr int kFour = 4;
  SlottedService service{kFour, kWork};
  const GuardedServices guarded{{service.address()},
                                "concurrency: {limit: 4}, queue: {target: 25ms, interval: 500ms}"};
};

// The burst is what comes in half an interval at twice the capacity.
TEST_F(GuardLoadBurstSoak, G4_AShortOneCostsNoCall) {
  ExpectCalm();
  constexpr int kBurst = 2 * kFour * 5 / 2;
  EXPECT_EQ(Run(kBurst, kBurst)[StatusCode::OK], kBurst);
  ExpectCalm();
  EXPECT_EQ(guarded.Refused(), 0);
}

// The burst is what comes in an interval at ten times the capacity.
TEST_F(GuardLoadBurstSoak, G4_OfALongOneTheServiceServesWhatItCan) {
  ExpectCalm();
  constexpr int kBurst = 10 * kFour * 5;
  auto codes = Run(kBurst, kBurst);
  std::cout << codes[StatusCode::OK] << " of " << kBurst << " served\n";
  EXPECT_GE(codes[StatusCode::OK], kFour * 5);
  EXPECT_EQ(codes[StatusCode::OK] + codes[StatusCode::RESOURCE_EXHAUSTED], kBurst);
  ExpectCalm();
  EXPECT_EQ(guarded.Refused(), codes[StatusCode::RESOURCE_EXHAUSTED]);
}

TEST(GuardLoadSoak, G5_AnOverloadThatLastsEndsAsWellAsItBegan) {
  SlottedService service(kSlots, kWork);
  const GuardedServices guarded({service.address()}, kAdaptive);
  constexpr int kSeconds = 6;
  GoodCalls good(kSeconds);
  Load load = Steady(2, kSeconds);
  load.on_end = [&](const Load::Ended& call) { good.Count(call); };
  RunLoad({guarded.channel}, load);
  good.Print();
  EXPECT_GE(good.In(kSeconds - 3, kSeconds), 0.7 * 3 * kServedPerSecond);
  EXPECT_LE(guarded.sidecar->Sum("levee_guard_limit"), 2 * kSlots);
}

TEST(GuardLoadSoak, G6_DearCallsPassAmongCheapOnesOfSixTimesTheCapacity) {
  SlottedService service(kSlots, kWork);
  const GuardedServices guarded({service.address()}, kAdaptive);
  constexpr int kDearEach = 20;  // 0.3 of the capacity is dear
  const auto is_dear = [](int number) { return number % kDearEach == 0; };
  Load load = Steady(6, 3);
  load.setup = [&](int number, grpc::ClientContext& context) {
    context.AddMetadata("levee-priority", is_dear(number) ? "10" : "100");
  };
  int good = 0;
  load.on_end = [&](const Load::Ended& call) {
    good += is_dear(call.number) && call.code == StatusCode::OK;
  };
  RunLoad({guarded.channel}, load);
  const int dear = load.calls / kDearEach;
  std::cout << good << " of " << dear << " dear calls are good\n";
  EXPECT_GE(good, 0.97 * dear);
  EXPECT_GE(guarded.Refused(), load.calls / 2);
}

constexpr int kTaskSeconds = 3;

// Returns how many tasks of four calls are finished at twice the capacity, if the calls of a task
// have one user, or one each.
int FinishedTasks(bool one_user) {
  constexpr int kAtATime = 60;  // tasks, whose calls come in turn
  const auto task_of = [](int n) { return n / (4 * kAtATime) * kAtATime + n % kAtATime; };
  SlottedService service(kSlots, kWork);
  const GuardedServices guarded({service.address()}, kAdaptive);
  Load load = Steady(2, kTaskSeconds);
  load.setup = [&](int n, grpc::ClientContext& context) {
    context.AddMetadata("levee-priority", absl::StrCat("64;u=\"", one_user ? task_of(n) : n, "\""));
  };
  std::map<int, int> good;  // calls, by task
  load.on_end = [&](const Load::Ended& call) {
    good[task_of(call.number)] += call.code == StatusCode::OK;
  };
  RunLoad({guarded.channel}, load);
  return static_cast<int>(
      std::ranges::count_if(good, [](const auto& task) { return task.second == 4; }));
}

TEST(GuardLoadSoak, G7_TasksFinishBecauseAUsersCallsPassOrFailTogether) {
  auto at_random = std::async(std::launch::async, FinishedTasks, /*one_user=*/false);
  const int together = FinishedTasks(/*one_user=*/true);
  const int apart = at_random.get();
  const double possible = kServedPerSecond * kTaskSeconds / 4;
  std::cout << together << " tasks finished, " << apart << " with users at random, of " << possible
            << "\n";
  EXPECT_GE(together, 0.5 * possible);
  EXPECT_LE(apart, 0.5 * together);
}

TEST(GuardLoadSoak, G8_CallersThatWaitAndLeaveLeaveNoSlotTaken) {
  SlottedService service(4, milliseconds(20));
  const GuardedServices guarded({service.address()}, "concurrency: {limit: 4}, queue: {max: 50}");
  constexpr int kCallers = 20'000;
  auto codes =
      RunLoad({guarded.channel}, {.calls = kCallers, .at_once = 400, .deadline = milliseconds(30)});
  const SidecarProcess& sidecar = *guarded.sidecar;
  EXPECT_TRUE(sidecar.WaitForSum("levee_guard_queue_length", {}, 0));
  EXPECT_TRUE(sidecar.WaitForSum("levee_guard_in_flight", {}, 0));
  const double arrived = sidecar.Sum("levee_guard_arrivals_total");
  std::cout << arrived << " arrived, " << codes[StatusCode::RESOURCE_EXHAUSTED] << " refused, "
            << codes[StatusCode::DEADLINE_EXCEEDED] << " left\n";
  EXPECT_EQ(sidecar.Sum("levee_guard_calls_total"), arrived);
  EXPECT_GE(codes[StatusCode::DEADLINE_EXCEEDED], 50);
  EXPECT_GE(guarded.Refused(), codes[StatusCode::RESOURCE_EXHAUSTED]);
  // All slots are free.
  EXPECT_EQ(RunLoad({guarded.channel}, {.calls = 100, .at_once = 4})[StatusCode::OK], 100);
}

}  // namespace
}  // namespace levee
