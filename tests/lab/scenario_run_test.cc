// SPDX-License-Identifier: Apache-2.0
// What a scenario does: known results come out.
#include "lab/scenario_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "config/temporary_folder.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"
#include "lab/scenario_fixture.h"

namespace levee {
namespace {

constexpr uint64_t kSeed = 1;

RunRecord RunOf(const Scenario& scenario, CallerRule rule = CallerRule::kThis) {
  return RunScenario(scenario, rule, kSeed);
}

int64_t Total(const PerSecond& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

TEST(ScenarioAverages, L1_RetriesAtAFailureShareFollowTheClosedForm) {
  constexpr double kFailing = 0.3;
  constexpr int kRetries = 3;
  const Scenario scenario = ScenarioOf(
      "duration: 100s\n"
      "clients:\n"
      "  - {name: web, sidecar: none, calls: cart/Add, load: {poisson: 500/s}, retries: 3}\n"
      "services: [{name: cart, instances: 3, slots: 1000, time: 1ms}]\n"
      "faults: [{at: 0s, for: 200s, service: cart, fail: {code: UNAVAILABLE, share: 0.3}}]\n");
  const RunRecord record = RunOf(scenario);
  const auto calls = static_cast<double>(Total(record.clients()[0].begun));
  const double lost = std::pow(kFailing, kRetries + 1);
  const double success = static_cast<double>(Total(record.clients()[0].ok)) / calls;
  EXPECT_NEAR(success, 1 - lost, 3 * std::sqrt(lost * (1 - lost) / calls));

  const double mean = (1 - lost) / (1 - kFailing);
  double square = 0;  // the mean of the square of a call's attempts
  for (int n = 1; n <= kRetries + 1; ++n) square += (2 * n - 1) * std::pow(kFailing, n - 1);
  const double sigma = std::sqrt((square - mean * mean) / calls);
  EXPECT_NEAR(record.Figures().amplification, mean, 3 * sigma);
}

// Erlang's formula for the mean time in the queue.
double MeanWait(double per_second, double served_per_second, int slots) {
  const double load = per_second / served_per_second;
  double term = 1;
  double sum = 1;
  for (int n = 1; n < slots; ++n) sum += term *= load / n;
  const double last = term * load / slots / (1 - load / slots);
  return last / (sum + last) / (slots * served_per_second - per_second);
}

TEST(ScenarioAverages, L1_WaitingTimesAreThoseOfAQueueWithSeveralServers) {
  const Scenario scenario = ScenarioOf(
      "duration: 1h\n"
      "clients: [{name: web, sidecar: none, calls: cart/Add, load: {poisson: 320/s}}]\n"
      "services: [{name: cart, slots: 4, time: {exponential: 10ms}}]\n");
  const RunRecord record = RunOf(scenario);
  const std::vector<double>& latencies = record.clients()[0].latencies;
  const double mean = std::accumulate(latencies.begin(), latencies.end(), 0.0) /
                      static_cast<double>(latencies.size());
  const double wait = MeanWait(320, 100, 4);
  EXPECT_NEAR(mean - 0.010, wait, 0.02 * wait);
}

TEST(ScenarioRun, L2_ThreeLayersOfThreeRetriesMake64Attempts) {
  const Scenario scenario = ScenarioOf(
      "duration: 10s\n"
      "clients: [{name: web, sidecar: none, calls: a/X, load: {even: 10/s}, retries: 3}]\n"
      "services:\n"
      "  - {name: a, slots: 1000, time: 1ms, calls: [b/X], sidecar: none, retries: 3}\n"
      "  - {name: b, slots: 1000, time: 1ms, calls: [db/X], sidecar: none, retries: 3}\n"
      "  - {name: db, slots: 1000, time: 1ms}\n"
      "faults: [{at: 0s, for: 20s, service: db, fail: {code: UNAVAILABLE}}]\n");
  const RunRecord record = RunOf(scenario);
  EXPECT_EQ(record.Figures().amplification, 64);
  EXPECT_EQ(record.Figures().success, 0);
  EXPECT_EQ(Total(record.services()[0].attempts), 4 * Total(record.clients()[0].begun));
}

// The same, with Levee beside each caller.
TEST(ScenarioRun, LeveeBoundsTheAttemptsOfThreeLayers) {
  const Scenario scenario = ScenarioOf(
      "duration: 20s\n"
      "clients: [{name: web, calls: a/X, load: {even: 100/s}, retries: 3}]\n"
      "services:\n"
      "  - {name: a, slots: 1000, time: 1ms, calls: [b/X], retries: 3}\n"
      "  - {name: b, slots: 1000, time: 1ms, calls: [db/X], retries: 3}\n"
      "  - {name: db, slots: 1000, time: 1ms}\n"
      "faults: [{at: 5s, for: 15s, service: db, fail: {code: UNAVAILABLE}}]\n");
  EXPECT_LT(RunOf(scenario).Figures().amplification, 1.4);
  EXPECT_GT(RunOf(scenario, CallerRule::kNoSidecar).Figures().amplification, 40);
}

TEST(ScenarioRun, RulesOfComparisonRetryAsTheirNamesSay) {
  const Scenario scenario = ScenarioOf(
      "duration: 20s\n"
      "clients: [{name: web, calls: cart/Add, load: {even: 100/s}, retries: 4}]\n"
      "services: [{name: cart, slots: 1000, time: 1ms}]\n"
      "faults: [{at: 0s, for: 40s, service: cart, fail: {code: ABORTED}}]\n");
  EXPECT_EQ(RunOf(scenario, CallerRule::kNoRetries).Figures().amplification, 1);
  EXPECT_EQ(RunOf(scenario, CallerRule::kPlain3).Figures().amplification, 3);
  EXPECT_EQ(RunOf(scenario, CallerRule::kNoSidecar).Figures().amplification, 5);
}

TEST(ScenarioRun, AStandstillDelaysTheWorkThatIsUnderWay) {
  const Scenario scenario = ScenarioOf(
      "duration: 10s\n"
      "clients: [{name: web, sidecar: none, calls: cart/Add, load: {even: 1/s}}]\n"
      "services: [{name: cart, slots: 10, time: 500ms}]\n"
      "faults: [{at: 2200ms, for: 1s, service: cart, capacity: 0},\n"
      "         {at: 6s, for: 2s, service: cart, capacity: 0.5}]\n");
  std::vector<double> latencies = RunOf(scenario).clients()[0].latencies;
  ASSERT_EQ(latencies.size(), 9u);  // begun at 1s to 9s
  // Half done when all stands still; begun meanwhile; at half speed.
  const std::vector<double> expected = {0.5, 1.5, 0.7, 0.5, 0.5, 1.0, 1.0, 0.5, 0.5};
  std::vector<double> sorted = expected;
  std::sort(sorted.begin(), sorted.end());
  std::sort(latencies.begin(), latencies.end());
  for (size_t i = 0; i < sorted.size(); ++i) EXPECT_NEAR(latencies[i], sorted[i], 1e-6) << i;
}

TEST(ScenarioRun, ASlopeMakesWorkLongerForEachOtherCall) {
  std::vector<double> latencies =
      RunOf(ScenarioOf("duration: 1s\n"
                       "clients: [{name: web, sidecar: none, calls: a/B,\n"
                       "           load: {even: 4/s}}]\n"
                       "services: [{name: a, slots: 9, time: 10s, slope: 1s}]\n"))
          .clients()[0]
          .latencies;
  std::sort(latencies.begin(), latencies.end());
  ASSERT_EQ(latencies.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(latencies[i], 10.0 + static_cast<double>(i), 1e-6);
}

TEST(ScenarioRun, AFullQueueAnswersAtOnce) {
  const auto success = [](const std::string& queue) {
    return RunOf(ScenarioOf(absl::StrCat(
                     "duration: 20s\n"
                     "clients: [{name: web, sidecar: none, calls: cart/Add, deadline: 1s,\n"
                     "           load: {even: 20/s}}]\n"
                     "services: [{name: cart, slots: 1, time: 100ms, queue: ",
                     queue, "}]\n")))
        .Figures()
        .success;
  };
  // The load is twice what there is room for. A queue without a bound grows until every call misses
  // its deadline. Of one that is full the half that gets in is served in time.
  EXPECT_LT(success("none"), 0.15);
  EXPECT_NEAR(success("5"), 0.5, 0.05);
}

TEST(ScenarioRun, DroppingWhatNobodyWaitsForSparesTheWork) {
  const auto recovery = [](const std::string& abandoned) {
    return RunOf(ScenarioOf(absl::StrCat(
                     "duration: 60s\n"
                     "clients: [{name: web, sidecar: none, calls: cart/Add, deadline: 1s,\n"
                     "           load: {even: 80/s}}]\n"
                     "services: [{name: cart, slots: 10, time: 100ms, abandoned: ",
                     abandoned, "}]\nfaults: [{at: 5s, for: 5s, service: cart, capacity: 0}]\n")))
        .Figures()
        .recovery_s;
  };
  // 400 calls are in the queue, of which 320 are abandoned; 20 a second are made up for.
  EXPECT_NEAR(recovery("work").value(), 15, 2);
  EXPECT_LT(recovery("drop").value(), 8);
}

TEST(ScenarioRun, WorkThatEndsBehindTheTimeLimitIsInVain) {
  const auto good = [](const std::string& limit) {
    return RunOf(ScenarioOf(absl::StrCat(
                     "duration: 20s\n"
                     "clients: [{name: web, sidecar: none, calls: cart/Add, load: {even: 20/s}}]\n"
                     "services: [{name: cart, slots: 1, time: 100ms, queue: 5, time_limit: ",
                     limit, "}]\n")))
        .Figures()
        .success;
  };
  // Of twice as many calls as it has room for, the queue lets half in, which wait some 500 ms.
  EXPECT_NEAR(good("700ms"), 0.5, 0.05);
  EXPECT_LT(good("300ms"), 0.05);
}

TEST(ScenarioRun, CallsThatFailAfterTheirWorkTakeTheRoomOfOthers) {
  const auto success = [](const std::string& added) {
    return RunOf(ScenarioOf(absl::StrCat(
                     "duration: 20s\n"
                     "clients: [{name: web, sidecar: none, calls: cart/Add, load: {even: 18/s}}]\n"
                     "services: [{name: cart, slots: 1, time: 100ms, queue: 5}]\n"
                     "faults: [{at: 0s, for: 40s, service: cart,\n"
                     "          fail: {code: INTERNAL, share: 0.5",
                     added, "}}]\n")))
        .Figures()
        .success;
  };
  EXPECT_NEAR(success(""), 0.5, 0.05);  // There is room for 10/s of the 9 that do not fail.
  EXPECT_NEAR(success(", after_work: true"), 0.28, 0.04);
}

// Calls with a short deadline give up while they wait behind the others.
TEST(ScenarioRun, WhatWasAbandonedInTheQueueIsNotBegun) {
  const RunRecord record = RunOf(ScenarioOf(
      "duration: 30s\n"
      "clients:\n"
      "  - {name: slow, sidecar: none, calls: cart/Add, deadline: 3s, load: {even: 1/s}}\n"
      "  - {name: quick, sidecar: none, calls: cart/Add, deadline: 90ms, load: {even: 10/s}}\n"
      "services: [{name: cart, slots: 1, time: 500ms, abandoned: drop}]\n"));
  const ClientRecord& slow = record.clients()[0];
  EXPECT_GT(Total(slow.ok), Total(slow.begun) * 9 / 10);
}

TEST(ScenarioRun, AFaultOfOneInstanceIsThatInstances) {
  const auto success = [](const std::string& fault) {
    return RunOf(ScenarioOf(absl::StrCat(
                     "duration: 20s\n"
                     "clients: [{name: web, sidecar: none, calls: cart/Add, deadline: 1s,\n"
                     "           load: {poisson: 100/s}}]\n"
                     "services: [{name: cart, instances: 2, slots: 100, time: 1ms}]\n"
                     "faults: [{at: 0s, for: 40s, service: cart, ",
                     fault, "}]\n")))
        .Figures()
        .success;
  };
  EXPECT_EQ(success("fail: {code: INTERNAL}"), 0);
  EXPECT_EQ(success("refuse: true"), 0);
  EXPECT_EQ(success("blackhole: true"), 0);
  EXPECT_EQ(success("delay: 2s"), 0);
  EXPECT_EQ(success("delay: 500ms"), 1);
  EXPECT_EQ(success("blackhole: false"), 1);
  EXPECT_GT(success("instance: 1, fail: {code: INTERNAL}"), 0.3);
  EXPECT_LT(success("instance: 1, fail: {code: INTERNAL}"), 0.7);
}

// A service whose two slots hold a call each and whose queue holds the others, restarted for a
// second.
std::string Restarted(const std::string& added) {
  return absl::StrCat(
      "duration: 20s\n"
      "clients: [{name: web, sidecar: none, calls: cart/Add, load: {even: 10/s}}]\n"
      "services: [{name: cart, ",
      added, "}]\nfaults: [{at: 5050ms, for: 1s, service: cart, restart: true",
      added.starts_with("instances") ? ", instance: 0" : "", "}]\n");
}

TEST(ScenarioRun, ARestartFailsWhatIsUnderWayAndWhatWaitsAndWhatComesMeanwhile) {
  const RunRecord record = RunOf(ScenarioOf(Restarted("slots: 2, time: 400ms, queue: 100")));
  const ClientRecord& web = record.clients()[0];
  // Of 49 that have begun, two are done each 400 ms, the first at 500 and 600 ms.
  EXPECT_EQ(Total({web.ok.begin(), web.ok.begin() + 5}), 24);
  EXPECT_EQ(web.answered[5], 1);
  EXPECT_EQ(record.Timeline().queue[5], 0);
  EXPECT_GT(web.answered[7], 0);
}

TEST(ScenarioRun, AnInstanceThatRestartsIsPassedOverUntilItIsBack) {
  const RunRecord record = RunOf(ScenarioOf(Restarted("instances: 2, slots: 9, time: 400ms")));
  const ClientRecord& web = record.clients()[0];
  EXPECT_EQ(Total(web.begun) - Total(web.ok), 2);  // Of four under way it had two.
  EXPECT_EQ(record.Figures().amplification, 1);
}

TEST(ScenarioRun, CallsInTheGuardOfAnInstanceThatRestartsFail) {
  const RunRecord record =
      RunOf(ScenarioOf(Restarted("slots: 2, time: 400ms, guard: {concurrency: {limit: 2}, "
                                 "queue: {max: 50, target: 1h, interval: 1h}}")));
  EXPECT_GT(record.Timeline().queue[4], 10);
  EXPECT_EQ(record.Timeline().queue[5], 0);
  EXPECT_EQ(record.clients()[0].answered[5], 1);  // before it
  EXPECT_GT(record.clients()[0].answered[8], 0);
}

// Three times the calls that a service can do, and what it has against that.
std::string Overload(const std::string& service) {
  return absl::StrCat(
      "duration: 20s\n"
      "clients: [{name: web, sidecar: none, calls: cart/Add, deadline: 200ms,\n"
      "           load: {poisson: 1500/s}}]\n"
      "services: [{name: cart, slots: 5, time: 10ms",
      service, "}]\n");
}

TEST(ScenarioRun, AGuardKeepsAnOverloadedServiceAtItsCapacity) {
  const RunRecord guarded = RunOf(ScenarioOf(Overload(", guard: {}")));
  EXPECT_LT(RunOf(ScenarioOf(Overload(""))).Figures().goodput, 100);
  EXPECT_GT(guarded.Figures().goodput, 400);  // of 500 that the service can do
  // Without a guard it is the deadline. The guard looks for its limit in the first seconds.
  EXPECT_LT(guarded.Figures().p99_s.value(), 0.17);
  EXPECT_EQ(guarded.Figures().amplification, 1);  // A call that is refused has arrived.
  EXPECT_LT(RunOf(ScenarioOf(Overload(", guard: {}")), CallerRule::kNoSidecar).Figures().goodput,
            100);
}

// Calls that take 5 s, beside a policy whose timeout is 1 s and a guard of one slot.
RunFigures FiguresOfLongCalls(const std::string& descriptors) {
  const TemporaryFolder folder;
  google::protobuf::FileDescriptorSet set;
  auto& file = *set.add_file();
  auto& service = *file.add_service();
  service.set_name("cart");
  auto& watch = *service.add_method();
  watch.set_name("Watch");
  watch.set_server_streaming(true);
  folder.Write("cart.pb", set.SerializeAsString());
  const std::string config = folder.Write(
      "levee.yaml",
      absl::StrCat("listeners:\n"
                   "  - {name: out, address: 127.0.0.1:1}\n"
                   "  - {name: in, address: 127.0.0.1:2, direction: inbound}\n"
                   "upstreams: [{name: cart, endpoints: [\"127.0.0.1:3\"]",
                   descriptors,
                   "}]\n"
                   "routes:\n"
                   "  - {match: {listener: in}, upstream: cart, policy: front}\n"
                   "  - {upstream: cart, policy: hasty}\n"
                   "policies:\n"
                   "  - {name: hasty, timeout: 1s, retry: {max_attempts: 1}}\n"
                   "  - {name: front, guard: {concurrency: {limit: 1}, queue: {max: 0}}}\n"));
  return RunOf(ScenarioOf(absl::StrCat("duration: 60s\n"
                                       "clients: [{name: web, sidecar: '",
                                       config,
                                       "', calls: cart/Watch, load: {even: 1/s}}]\n"
                                       "services: [{name: cart, slots: 1000, time: 5s, sidecar: '",
                                       config, "'}]\n")))
      .Figures();
}

TEST(ScenarioRun, AStreamByItsDescriptorIsEndedByNoTimeoutAndTakesNoSlotOfAGuard) {
  EXPECT_EQ(FiguresOfLongCalls("").success, 0);
  EXPECT_EQ(FiguresOfLongCalls(", descriptor_set: cart.pb").success, 1);
}

TEST(ScenarioRun, CallsThatWaitInAGuardAreCounted) {
  const auto longest = [](const std::string& guard) {
    const RunTimeline timeline = RunOf(ScenarioOf(Overload(guard))).Timeline();
    return *std::max_element(timeline.queue.begin(), timeline.queue.end());
  };
  EXPECT_EQ(longest(", guard: {concurrency: {limit: 5}, queue: {max: 0}}"), 0);
  EXPECT_GT(longest(", guard: {concurrency: {limit: 5}, queue: {max: 7}}"), 0);
  EXPECT_LE(longest(", guard: {concurrency: {limit: 5}, queue: {max: 7}}"), 7);
}

// What is retried when no requests begin any more belongs to no second.
TEST(ScenarioRun, TheLastSecondIsNoWorseThanTheOthers) {
  const RunRecord record =
      RunOf(ScenarioOf("duration: 10s\n"
                       "clients:\n"
                       "  - {name: web, sidecar: none, calls: cart/Add, load: {even: 10/s}, "
                       "deadline: 2s, retries: 2}\n"
                       "services: [{name: cart, slots: 100, time: 1ms}]\n"
                       "faults: [{at: 0s, for: 20s, service: cart, blackhole: true}]\n"));
  EXPECT_EQ(record.Figures().amplification, 3);
  EXPECT_NEAR(record.Figures().worst_second, 3, 0.4);
}

TEST(ScenarioRun, AStepChangesTheRateForItsTime) {
  const RunRecord record =
      RunOf(ScenarioOf("duration: 30s\n"
                       "clients:\n"
                       "  - name: web\n"
                       "    sidecar: none\n"
                       "    calls: cart/Add\n"
                       "    load: {even: 10/s, steps: [{at: 10s, for: 5s, rate: 40/s}]}\n"
                       "services: [{name: cart, slots: 100, time: 1ms}]\n"));
  const PerSecond& begun = record.clients()[0].begun;
  EXPECT_EQ(begun[5], 10);
  EXPECT_NEAR(static_cast<double>(begun[12]), 40, 1);
  EXPECT_NEAR(static_cast<double>(begun[20]), 10, 1);
}

}  // namespace
}  // namespace levee
