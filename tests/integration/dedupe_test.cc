// SPDX-License-Identifier: Apache-2.0
// Idempotency keys through the binary: real gRPC callers, and a real gRPC service.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/guarded.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using testing::HasSubstr;

// Answers with the number of the run in a trailer.
FaultyService::Script NumbersRuns() {
  return [](const SeenCall& call) {
    Answer answer;
    answer.head = {{"served-by", "app"}};
    answer.trailers = {{"run", std::to_string(call.number)}};
    return answer;
  };
}

double Results(const GuardedServices& guarded, const std::string& result) {
  return guarded.sidecar->Sum("levee_dedupe_calls_total", {"result=\"" + result + "\""});
}

TEST(Dedupe, ARepeatedCallGetsTheSameAnswerAndRunsOnce) {
  FaultyService service(NumbersRuns());
  const GuardedServices guarded({service.address()}, "dedupe: {}");
  const Reply first = CallUnary(guarded.channel, "pay 5", WithKey("k"));
  const Reply second = CallUnary(NewChannel(guarded.address(0)), "pay 5", WithKey("k"));
  EXPECT_TRUE(first.status.ok() && second.status.ok());
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(Values(second.trailers, "run"), "1");
  EXPECT_EQ(Values(second.head, "served-by"), "app");
  EXPECT_EQ(Values(first.head, "levee-replayed"), "");
  EXPECT_EQ(Values(second.head, "levee-replayed"), "true");
  EXPECT_EQ(service.calls(), 1);
  EXPECT_EQ(Values(service.seen()[0].metadata, "idempotency-key"), "k");
  EXPECT_EQ(Values(CallUnary(guarded.channel, "pay 5", WithKey("k2")).trailers, "run"), "2");
  EXPECT_TRUE(CallUnary(guarded.channel).status.ok()) << "a call without a key runs";
  EXPECT_EQ(service.calls(), 3);
  EXPECT_EQ(Results(guarded, "first"), 2);
  EXPECT_EQ(Results(guarded, "replayed"), 1);
  EXPECT_EQ(guarded.sidecar->Sum("levee_dedupe_keys", {}), 2);
}

TEST(Dedupe, AFailureOfTheApplicationIsReplayedAsItWas) {
  FaultyService service(
      [](const SeenCall&) { return Fails(StatusCode::INVALID_ARGUMENT, "no such account"); });
  const GuardedServices guarded({service.address()}, "dedupe: {}");
  for (int i = 0; i < 2; ++i) {
    const Reply reply = CallUnary(guarded.channel, "pay 5", WithKey("k"));
    EXPECT_EQ(reply.status.error_code(), StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(reply.status.error_message(), "no such account");
  }
  EXPECT_EQ(service.calls(), 1);
}

TEST(Dedupe, WhatTheApplicationWantsAgainRunsAgain) {
  FaultyService service(FailFirst(1));
  const GuardedServices guarded({service.address()}, "dedupe: {}");
  EXPECT_EQ(CallUnary(guarded.channel, "pay 5", WithKey("k")).status.error_code(),
            StatusCode::UNAVAILABLE);
  EXPECT_TRUE(CallUnary(guarded.channel, "pay 5", WithKey("k")).status.ok());
  EXPECT_EQ(service.calls(), 2);
}

TEST(Dedupe, OtherRequestsAndCallsWithoutAKeyAreRefusedWithAReason) {
  FaultyService service;
  const GuardedServices guarded({service.address()}, "dedupe: {required: true}");
  EXPECT_TRUE(CallUnary(guarded.channel, "pay 5", WithKey("k")).status.ok());
  const grpc::Status other = CallUnary(guarded.channel, "pay 500", WithKey("k")).status;
  EXPECT_EQ(other.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(other.error_message(), HasSubstr("was another request"));
  const grpc::Status without = CallUnary(guarded.channel).status;
  EXPECT_EQ(without.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(without.error_message(), HasSubstr("needs an idempotency key"));
  const grpc::Status two = CallUnary(guarded.channel, "pay 5", [](grpc::ClientContext& context) {
                             context.AddMetadata("idempotency-key", "mine");
                             context.AddMetadata("idempotency-key", "k");
                           }).status;
  EXPECT_EQ(two.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(two.error_message(), HasSubstr("has more than one idempotency key"));
  const grpc::Status empty = CallUnary(guarded.channel, "pay 5", WithKey("")).status;
  EXPECT_EQ(empty.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(empty.error_message(), HasSubstr("idempotency key is blank"));
  const grpc::Status longer =
      CallUnary(guarded.channel, "pay 5", WithKey(std::string(257, 'k'))).status;
  EXPECT_EQ(longer.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(longer.error_message(), HasSubstr("idempotency key has more than 256 bytes"));
  EXPECT_EQ(service.calls(), 1);
}

TEST(Dedupe, AMethodWhoseAnswersAreStreamsTakesNoKeys) {
  FaultyService service;
  const GuardedServices guarded({service.address()}, "dedupe: {}");
  const auto stream = [&] {
    ByteCall call(guarded.channel, "/test.Echo/Stream");
    call.context().AddMetadata("idempotency-key", "k");
    EXPECT_TRUE(call.Start() && call.Write("3 10") && call.HalfClose());
    int messages = 0;
    while (call.Read().has_value()) ++messages;
    EXPECT_TRUE(call.Finish().ok());
    return messages;
  };
  EXPECT_EQ(stream(), 3);
  EXPECT_EQ(stream(), 3);
  EXPECT_EQ(service.calls(), 2);
  EXPECT_EQ(Results(guarded, "first"), 1);
}

TEST(Dedupe, ACallerThatGaveUpGetsTheAnswerAsItComesBack) {
  FaultyService service;
  const GuardedServices guarded({service.address()}, "dedupe: {}");
  {
    ByteCall lost(NewChannel(guarded.address(0)), "/test.Echo/Sink");
    lost.context().AddMetadata("idempotency-key", "k");
    ASSERT_TRUE(lost.Start() && lost.Write("pay 5") && lost.HalfClose());
    ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 1; }));
  }
  ASSERT_TRUE(guarded.sidecar->WaitForSum("levee_downstream_connections", {}, 0));
  std::thread release([&] {
    EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_active_calls", {}, 2));
    service.Release();
  });
  const Reply again = CallUnary(guarded.channel, "pay 5", WithKey("k"), "/test.Echo/Sink");
  release.join();
  EXPECT_TRUE(again.status.ok()) << again.status.error_message();
  EXPECT_EQ(again.body, "5");
  EXPECT_EQ(service.calls(), 1);
  EXPECT_EQ(service.cancelled(), 0);
}

// Of a caller who has a connection of its own, with the keys 0, 1, ..., and no deadline. They are
// never answered.
class VanishingCallers {
 public:
  VanishingCallers(const GuardedServices& guarded, int calls) {
    const ChannelPtr channel = NewChannel(guarded.address(0));
    for (int i = 0; i < calls; ++i) {
      auto& call = calls_.emplace_back(std::make_unique<ByteCall>(channel, "/test.Echo/Sleep"));
      call->context().AddMetadata("idempotency-key", std::to_string(i));
      call->context().set_deadline(std::chrono::system_clock::time_point::max());
      EXPECT_TRUE(call->Start() && call->Write("pay 5") && call->HalfClose());
    }
  }

 private:
  std::vector<std::unique_ptr<ByteCall>> calls_;
};

TEST(Dedupe, CallersThatVanishLeaveOthersTheirSlots) {
  FaultyService service;
  const GuardedServices guarded({service.address()}, "concurrency: {limit: 8}, dedupe: {}");
  {
    const VanishingCallers attack(guarded, 25);
    ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 8; }));
  }
  // Those that waited for slots came to the service as others left, and left in turn.
  ASSERT_TRUE(guarded.sidecar->WaitForSum("levee_active_calls", {}, 2));
  ASSERT_TRUE(service.WaitFor([&] { return service.calls() - service.cancelled() == 2; }));
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_in_flight", {}, 2));
  EXPECT_GE(guarded.sidecar->Sum("levee_limit_hits_total", {"limit=\"lone_calls\""}), 6);
  Load honest;
  honest.calls = 500;
  honest.at_once = 6;
  EXPECT_EQ(RunLoad({guarded.channel}, honest),
            (std::map<StatusCode, int>{{StatusCode::OK, honest.calls}}));
  EXPECT_EQ(guarded.sidecar->Metric("levee_guard_in_flight{upstream=\"app0\"}"), 2);
}

TEST(Dedupe, TheSlotsOfCallersThatVanishedComeBackAtTheirClaims) {
  FaultyService service;
  const GuardedServices guarded({service.address()},
                                "concurrency: {limit: 8}, dedupe: {claim: 1s}");
  {
    const VanishingCallers attack(guarded, 8);
    ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 8; }));
  }
  EXPECT_TRUE(service.WaitFor([&] { return service.cancelled() == 8; }));
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_in_flight", {}, 0));
  for (int i = 0; i < 8; ++i) {
    const Reply again =
        CallUnary(guarded.channel, "pay 5", WithKey(std::to_string(i)), "/test.Echo/Sleep");
    EXPECT_EQ(again.status.error_code(), StatusCode::FAILED_PRECONDITION);
  }
  EXPECT_EQ(service.calls(), 8);
}

TEST(Dedupe, AnApplicationThatDiesInTheCallLosesIt) {
  auto service = std::make_unique<FaultyService>();
  const int port = service->port();
  const GuardedServices guarded({service->address()}, "dedupe: {claim: 1s}");
  ByteCall lost(guarded.channel, "/test.Echo/Sleep");
  lost.context().AddMetadata("idempotency-key", "k");
  ASSERT_TRUE(lost.Start() && lost.Write("pay 5") && lost.HalfClose());
  ASSERT_TRUE(service->WaitFor([&] { return service->calls() == 1; }));
  service.reset();
  // What a gRPC server says when it is shut down looks like what an application says.
  EXPECT_EQ(lost.Finish().error_code(), StatusCode::UNAVAILABLE);
  // The guard's door is closed until it has reached the application again.
  ASSERT_TRUE(Eventually([&] { return !IsListening(guarded.address(0)); }));
  FaultyService another([](const SeenCall&) { return Answer(); }, {.port = port});
  ASSERT_TRUE(Eventually([&] { return IsListening(guarded.address(0)); }));
  const grpc::Status status =
      CallUnary(NewChannel(guarded.address(0)), "pay 5", WithKey("k"), "/test.Echo/Sleep").status;
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION) << status.error_message();
  EXPECT_THAT(status.error_message(), HasSubstr("was lost; it may have run"));
  EXPECT_EQ(another.calls(), 0);
  EXPECT_EQ(Results(guarded, "lost"), 1);
}

TEST(Dedupe, AnswersOutliveAReloadThatChangesTheRules) {
  FaultyService service(NumbersRuns());
  const GuardedServices guarded({service.address()}, "dedupe: {}");
  EXPECT_TRUE(CallUnary(guarded.channel, "pay 5", WithKey("k")).status.ok());
  RewriteFile(guarded.config.path(), GuardsText({service.address()}, "dedupe: {ttl: 1h}"));
  ASSERT_TRUE(
      guarded.sidecar->WaitForSum("levee_config_reloads_total", {R"(result="success")"}, 1));
  const Reply again = CallUnary(guarded.channel, "pay 5", WithKey("k"));
  EXPECT_EQ(Values(again.head, "levee-replayed"), "true");
  EXPECT_EQ(service.calls(), 1);
}

TEST(Dedupe, ACallerThatFillsTheTableForgetsKeysOfItsOwn) {
  FaultyService service(NumbersRuns());
  const GuardedServices guarded(
      {service.address()}, R"(dedupe: {scope: [method, "header:x-tenant"], max_bytes: 64KiB})");
  const auto pay = [&](const std::string& tenant, const std::string& key) {
    return Values(CallUnary(guarded.channel, "pay 5",
                            [&](grpc::ClientContext& context) {
                              context.AddMetadata("x-tenant", tenant);
                              context.AddMetadata("idempotency-key", key);
                            })
                      .trailers,
                  "run");
  };
  EXPECT_EQ(pay("honest", "k"), "1");
  for (int i = 0; i < 300; ++i) pay("hostile", absl::StrCat("k", i));
  EXPECT_EQ(pay("honest", "k"), "1") << "the answer of the first run";
  EXPECT_EQ(pay("hostile", "k0"), "302") << "a run of its own";
  EXPECT_GT(guarded.sidecar->Sum("levee_dedupe_evicted_total", {}), 100);
  EXPECT_TRUE(guarded.sidecar->WaitForSumAtLeast("levee_limit_hits_total",
                                                 {"limit=\"dedupe_bytes\""}, 100));
}

TEST(Dedupe, OutcomesGoWithTimeWhereNoCallComes) {
  FaultyService service;
  const GuardedServices guarded({service.address()}, "dedupe: {ttl: 1s}");
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(CallUnary(guarded.channel, "pay 5", WithKey(absl::StrCat("k", i))).status.ok());
  }
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_dedupe_keys", {}, 0));
}

TEST(Dedupe, I3_TenThousandDuplicatesOfARunningCallGetItsAnswer) {
  constexpr int kCalls = 10'000;
  FaultyService service;
  const GuardedServices guarded({service.address()}, "dedupe: {}");
  std::vector<ChannelPtr> channels;
  for (int i = 0; i < 20; ++i) channels.push_back(NewChannel(guarded.address(0)));
  const double before = guarded.sidecar->Metric("levee_memory_bytes");
  double waiting = 0;
  std::thread release([&] {
    EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_active_calls", {}, kCalls));
    waiting = guarded.sidecar->Metric("levee_memory_bytes");
    service.Release();
  });
  Load load;
  load.calls = load.at_once = kCalls;
  load.method = "/test.Echo/Sink";
  load.setup = [](int, grpc::ClientContext& context) {
    context.AddMetadata("idempotency-key", "k");
  };
  const auto codes = RunLoad(channels, load);
  release.join();
  EXPECT_EQ(codes, (std::map<StatusCode, int>{{StatusCode::OK, kCalls}}));
  EXPECT_EQ(service.calls(), 1);
  EXPECT_EQ(Results(guarded, "waited"), kCalls - 1);
  EXPECT_LT((waiting - before) / kCalls, 8 << 10) << "bytes for each call that waits";
}

// A call whose caller leaves at once, and its connection with it.
void Leave(const GuardedServices& guarded, const std::string& key) {
  ByteCall call(ConnectedChannel(guarded.address(0)), "/test.Echo/Unary");
  call.context().AddMetadata("idempotency-key", key);
  EXPECT_TRUE(call.Start() && call.Write("pay 5") && call.HalfClose());
}

// One key: what its calls were told.
struct Key {
  std::set<std::string> runs;  // of answers that were OK
  bool lost = false;           // told as such
};

TEST(DedupeSoak, I2_NoKeyRunsTwiceWhileCallersAndTheApplicationComeAndGo) {
  constexpr int kThreads = 4;
  constexpr int kKeys = 400;
  std::mutex mutex;
  std::mt19937 random(7);
  std::map<std::string, int> worked;  // runs of each key that did the work
  const auto script = [&](const SeenCall& call) {
    const std::lock_guard lock(mutex);
    if (random() % 5 == 0) return Fails(StatusCode::UNAVAILABLE);  // did not do it
    const int run = ++worked[Values(call.metadata, "idempotency-key")];
    Answer answer;
    answer.read_first = true;
    answer.delay = milliseconds(random() % 20);
    answer.trailers = {{"run", std::to_string(run)}};
    return answer;
  };
  auto service = std::make_unique<FaultyService>(script);
  const int port = service->port();
  const GuardedServices guarded({service->address()}, "dedupe: {claim: 1s}");
  std::map<std::string, Key> keys;
  std::atomic<int> done = 0;
  const auto repeat = [&](int thread) {
    std::mt19937 own(static_cast<unsigned>(thread));
    for (int i = 0; i < kKeys; ++i) {
      const std::string key = absl::StrCat(thread, "-", i);
      Key seen;
      int good = 0;
      while (good < 2 && !seen.lost) {
        if (own() % 3 == 0) Leave(guarded, key);
        const Reply reply = CallUnary(guarded.channel, "pay 5", WithKey(key));
        if (reply.status.ok()) {
          ++good;
          seen.runs.insert(Values(reply.trailers, "run"));
        }
        seen.lost = reply.status.error_code() == StatusCode::FAILED_PRECONDITION;
      }
      const std::lock_guard lock(mutex);
      keys[key] = seen;
      ++done;
      done.notify_one();
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(repeat, thread);
  for (int restarts = 1; restarts <= 3; ++restarts) {
    for (int now = done; now < restarts * kThreads * kKeys / 4; now = done) done.wait(now);
    service.reset();
    service = std::make_unique<FaultyService>(script, FaultyService::Options{.port = port});
  }
  for (std::thread& thread : threads) thread.join();
  int lost = 0;
  for (const auto& [key, seen] : keys) {
    EXPECT_LE(worked[key], 1) << key;
    EXPECT_LE(seen.runs.size(), 1u) << key << ": all answers are of the same run";
    lost += seen.lost;
  }
  EXPECT_EQ(keys.size(), size_t{kThreads * kKeys});
  EXPECT_LT(lost, kThreads * kKeys / 10);
  RecordProperty("lost", lost);
}

}  // namespace
}  // namespace levee
