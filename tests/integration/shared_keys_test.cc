// SPDX-License-Identifier: Apache-2.0
// Idempotency keys that several sidecars share, through the binary and a real redis-server.
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/event_lines.h"
#include "integration/faulty_service.h"
#include "integration/guarded.h"
#include "store/redis_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

constexpr char kDedupeCalls[] = "levee_dedupe_calls_total";

// A sidecar of its own, whose service and store are those of others too.
struct Pod {
  Pod(const std::string& service, const RedisProcess& redis, const std::string& dedupe)
      : config(GuardsText({service}, "dedupe: {store: shared, " + dedupe + "}") +
               "stores: [{name: shared, redis: [\"" + redis.address() + "\"], timeout: 5s}]\n"),
        sidecar(SidecarProcess::Run({"--config", config.path()})),
        channel(NewChannel(sidecar->address("ingress0"))) {
    EXPECT_TRUE(sidecar->WaitForSum("levee_store_connected", {}, 1));
  }

  Reply Pay(const std::string& key, const std::string& body = "pay 5") const {
    return CallUnary(channel, body, WithKey(key));
  }
  double Count(const std::string& result) const {
    return sidecar->Sum(kDedupeCalls, {"result=\"" + result + "\""});
  }
  // A call is counted a moment after its caller has the answer.
  bool HasCounted(const std::string& result) const {
    return sidecar->WaitForSum(kDedupeCalls, {"result=\"" + result + "\""}, 1);
  }

  const TempFile config;
  std::unique_ptr<SidecarProcess> sidecar;
  const ChannelPtr channel;
};

class SharedKeysTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
    redis_ = std::make_unique<RedisProcess>();
  }
  std::unique_ptr<Pod> NewPod(const std::string& dedupe = "") {
    return std::make_unique<Pod>(service_.address(), *redis_, dedupe);
  }

  FaultyService service_;
  std::unique_ptr<RedisProcess> redis_;
};

TEST_F(SharedKeysTest, ACallThatIsRepeatedToAnotherPodGetsTheAnswerOfTheFirst) {
  const auto a = NewPod();
  const auto b = NewPod();
  const Reply first = a->Pay("k");
  EXPECT_TRUE(first.status.ok()) << first.status.error_message();
  const Reply second = b->Pay("k");
  EXPECT_TRUE(second.status.ok()) << second.status.error_message();
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(Values(second.head, "levee-replayed"), "true");
  EXPECT_EQ(service_.calls(), 1);
  const grpc::Status other = b->Pay("k", "pay 500").status;
  EXPECT_EQ(other.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(other.error_message(), HasSubstr("was another request"));
  EXPECT_TRUE(a->HasCounted("first"));
  EXPECT_TRUE(b->HasCounted("mismatch"));
  // The store may learn of the first answer a moment after its caller: then the second call waited.
  EXPECT_EQ(b->Count("replayed") + b->Count("waited"), 1);
  EXPECT_TRUE(b->Pay("k2").status.ok());
  EXPECT_EQ(service_.calls(), 2);
}

TEST_F(SharedKeysTest, AnswersOutliveThePodThatGotThem) {
  std::string body;
  {
    const auto a = NewPod();
    body = a->Pay("k").body;
    // A second key is stored after the first.
    EXPECT_TRUE(a->Pay("k2").status.ok());
  }
  const auto b = NewPod();
  EXPECT_EQ(b->Pay("k").body, body);
  EXPECT_EQ(service_.calls(), 2);
}

TEST_F(SharedKeysTest, ACallWaitsForTheOneThatRunsInAnotherPod) {
  const auto a = NewPod();
  const auto b = NewPod();
  ByteCall first(a->channel, "/test.Echo/Sink");
  first.context().AddMetadata("idempotency-key", "k");
  ASSERT_TRUE(first.Start() && first.Write("pay 5") && first.HalfClose());
  ASSERT_TRUE(service_.WaitFor([&] { return service_.calls() == 1; }));
  std::thread release([&] {
    EXPECT_TRUE(b->sidecar->WaitForSum("levee_active_calls", {}, 1));
    service_.Release();
  });
  const Reply second = CallUnary(b->channel, "pay 5", WithKey("k"), "/test.Echo/Sink");
  release.join();
  EXPECT_TRUE(second.status.ok()) << second.status.error_message();
  EXPECT_EQ(second.body, "5");
  EXPECT_EQ(service_.calls(), 1);
}

TEST_F(SharedKeysTest, ACallOfAPodThatHangsIsLostWhenItsClaimHasPassed) {
  auto a = NewPod("claim: 1s");
  const auto b = NewPod("claim: 1s");
  ByteCall first(a->channel, "/test.Echo/Sink");
  first.context().AddMetadata("idempotency-key", "k");
  ASSERT_TRUE(first.Start() && first.Write("pay 5") && first.HalfClose());
  ASSERT_TRUE(service_.WaitFor([&] { return service_.calls() == 1; }));
  a->sidecar->process().Signal(SIGSTOP);
  const Reply second = CallUnary(b->channel, "pay 5", WithKey("k"), "/test.Echo/Sink");
  EXPECT_EQ(second.status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(second.status.error_message(), HasSubstr("it may have run"));
  EXPECT_EQ(service_.calls(), 1);
  EXPECT_TRUE(b->HasCounted("lost"));
  a->sidecar->process().Signal(SIGCONT);
}

TEST_F(SharedKeysTest, AStoreThatHangsDoesNotKeepASidecarFromEnding) {
  // The renewals of the claim are commands that nobody answers.
  auto pod = NewPod("claim: 1s");
  ByteCall call(pod->channel, "/test.Echo/Sink");
  call.context().AddMetadata("idempotency-key", "k");
  ASSERT_TRUE(call.Start() && call.Write("pay 5") && call.HalfClose());
  ASSERT_TRUE(service_.WaitFor([&] { return service_.calls() == 1; }));
  redis_->Signal(SIGSTOP);
  pod.reset();  // It ends within its patience, with exit code 0.
  redis_->Signal(SIGCONT);
}

TEST_F(SharedKeysTest, WithoutTheStoreCallsAreRefusedOrRunAsThePolicySays) {
  const auto refuses = NewPod();
  const auto runs = NewPod("on_store_failure: run");
  redis_->Kill();
  for (const auto* pod : {&refuses, &runs}) {
    ASSERT_TRUE((*pod)->sidecar->WaitForSum("levee_store_connected", {}, 0));
  }
  const grpc::Status refused = refuses->Pay("k").status;
  EXPECT_EQ(refused.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(refused.error_message(),
            "the store of idempotency keys does not answer; the call has not run");
  EXPECT_EQ(service_.calls(), 0);
  EXPECT_TRUE(runs->Pay("k").status.ok());
  EXPECT_EQ(service_.calls(), 1);
  for (const auto* pod : {&refuses, &runs}) EXPECT_TRUE((*pod)->HasCounted("store_failed"));
  redis_->Restart();
  ASSERT_TRUE(refuses->sidecar->WaitForSum("levee_store_connected", {}, 1));
  EXPECT_TRUE(refuses->Pay("k").status.ok());
  // Its operator reads of it, and not for each call.
  const std::string log = ErrorsWith(*refuses->sidecar, " store_back: ");
  for (const char* event : {" store_away: ", " store_back: "}) {
    const size_t first = log.find(event);
    EXPECT_NE(first, log.npos) << log;
    EXPECT_EQ(log.find(event, first + 1), log.npos) << log;
  }
}

}  // namespace
}  // namespace levee
