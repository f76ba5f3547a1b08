// SPDX-License-Identifier: Apache-2.0
#include "demo/service_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "demo/times.h"

namespace levee::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two workers, 10 ms each: 200 requests a second.
constexpr int kWorkers = 2;
Capacity Small() {
  return {.workers = kWorkers,
          .work = absl::Milliseconds(10),
          .time_limit = absl::Milliseconds(30),
          .line = 4};
}

class Driver {
 public:
  explicit Driver(const Capacity& capacity) : model(capacity, 1) {}

  void Arrive(int64_t ms) {
    model.Arrive(
        At(ms), [](Verdict, absl::Duration) {}, ended_);
  }
  std::vector<Verdict> Advance(int64_t ms) {
    model.Advance(At(ms), ended_);
    return Take();
  }
  std::vector<Verdict> Take() {
    std::vector<Verdict> verdicts;
    for (auto& ended : ended_) verdicts.push_back(ended.verdict);
    ended_.clear();
    return verdicts;
  }

  ServiceModel model;

 private:
  std::vector<ServiceModel::Ended> ended_;
};

TEST(ServiceModel, EndsARequestWhenItsWorkIsDone) {
  Driver driver(Small());
  driver.Arrive(0);
  EXPECT_EQ(driver.model.NextEnd(), At(10));
  EXPECT_THAT(driver.Advance(9), IsEmpty());
  EXPECT_THAT(driver.Advance(10), ElementsAre(Verdict::kOk));
  EXPECT_EQ(driver.model.NextEnd(), Instant::Infinite());
}

TEST(ServiceModel, LetsRequestsWaitWhileAllWorkersAreBusy) {
  Driver driver(Small());
  for (int i = 0; i < kWorkers + 1; ++i) driver.Arrive(0);
  EXPECT_EQ(driver.model.waiting(), 1u);
  EXPECT_THAT(driver.Advance(10), ElementsAre(Verdict::kOk, Verdict::kOk));
  EXPECT_THAT(driver.Advance(20), ElementsAre(Verdict::kOk));
}

TEST(ServiceModel, RefusesWhatTheLineCannotHold) {
  Driver driver(Small());
  for (int i = 0; i < kWorkers + 4; ++i) driver.Arrive(0);
  EXPECT_THAT(driver.Take(), IsEmpty());
  driver.Arrive(0);
  EXPECT_THAT(driver.Take(), ElementsAre(Verdict::kLineFull));
}

TEST(ServiceModel, DoesTheWorkForRequestsThatAreTooLate) {
  Driver driver(Small());
  driver.model.SetFaults({.workers_down = 1});
  driver.Arrive(0);
  driver.model.SetFaults({});
  EXPECT_THAT(driver.Advance(25), IsEmpty());
  EXPECT_EQ(driver.model.NextEnd(), At(35));
  EXPECT_THAT(driver.Advance(35), ElementsAre(Verdict::kTooLate));
}

TEST(ServiceModel, LosesNoCapacityWhenItIsAskedLate) {
  Driver driver(Small());
  for (int i = 0; i < 6; ++i) driver.Arrive(0);
  EXPECT_THAT(driver.Advance(30), ::testing::SizeIs(6));
}

TEST(ServiceModel, FailsTheShareThatItIsTold) {
  Driver driver(Small());
  driver.model.SetFaults({.failing = 0.25});
  std::map<Verdict, int> counts;
  for (int i = 0; i < 1000; ++i) {
    driver.Arrive(i * 10);
    for (const Verdict verdict : driver.Take()) ++counts[verdict];
  }
  EXPECT_NEAR(counts[Verdict::kFault], 250, 40);
  EXPECT_EQ(counts[Verdict::kOk] + counts[Verdict::kFault], 999);
}

TEST(ServiceModel, WorksSlowerWithWorkersDown) {
  Driver driver(Small());
  driver.model.SetFaults({.workers_down = 0.5});
  for (int i = 0; i < 3; ++i) driver.Arrive(0);
  EXPECT_THAT(driver.Advance(20), ::testing::SizeIs(2));
}

TEST(ServiceModel, StopEndsWhatIsWaitingAndWhatIsInWork) {
  Driver driver(Small());
  for (int i = 0; i < 3; ++i) driver.Arrive(0);
  std::vector<ServiceModel::Ended> ended;
  driver.model.Stop(At(5), ended);
  EXPECT_EQ(ended.size(), 3u);
  EXPECT_EQ(driver.model.NextEnd(), Instant::Infinite());
}

// Requests in even gaps for two seconds onto a full line; returns the successes of each second.
std::vector<int> AfterAFullLine(double per_second) {
  const Capacity capacity = Capacity::For(400);
  Driver driver(capacity);
  for (size_t i = 0; i < capacity.line; ++i) driver.Arrive(0);
  std::vector<int> ok(2);
  for (int i = 0; i < 2 * per_second; ++i) {
    const double ms = i * 1000 / per_second;
    driver.Arrive(static_cast<int64_t>(ms));
    for (const Verdict verdict : driver.Take()) {
      if (verdict == Verdict::kOk) ++ok[ms < 1000 ? 0 : 1];
    }
  }
  return ok;
}

// The point of the demo, without its clients: three attempts at every call keep a service down that
// 1.1 attempts per call would let recover.
TEST(ServiceModel, StaysDownUnderThriceItsLoad) {
  // The first requests of the full line are still in time.
  EXPECT_LT(AfterAFullLine(1200)[0], 200);
  EXPECT_EQ(AfterAFullLine(1200)[1], 0);
}

TEST(ServiceModel, RecoversUnderATenthMoreThanItsLoad) { EXPECT_GT(AfterAFullLine(440)[1], 400); }

TEST(Capacity, IsThreeEighthsAboveTheLoad) {
  for (const double load : {50, 110, 400, 1000}) {
    EXPECT_NEAR(Capacity::For(load).PerSecond(), 1.375 * load, 0.01);
    EXPECT_GE(Capacity::For(load).workers, 1);
    EXPECT_NEAR(absl::ToDoubleMilliseconds(Capacity::For(load).work), 20, 6);
  }
  EXPECT_EQ(Capacity::For(400).workers, 11);
  EXPECT_EQ(Capacity::For(400).line, 220u);
}

}  // namespace
}  // namespace levee::demo
