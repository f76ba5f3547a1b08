// SPDX-License-Identifier: Apache-2.0
// Rate limits that several sidecars share, with a real redis-server.
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "certificates/authority.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"
#include "store/redis_process.h"

namespace levee {
namespace {

using grpc::StatusCode;

class GlobalLimit : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
    redis_ = std::make_unique<RedisProcess>();
  }

  // A sidecar whose calls have the limit `fields`; its store is the test's.
  std::unique_ptr<SidecarProcess> Sidecar(const std::string& fields,
                                          const std::string& store = "timeout: 5s") {
    return std::make_unique<SidecarProcess>(ConfigParts{
        .endpoints = {service_.address()},
        .policy = ", rate_limit: [{name: all, scope: global, store: shared, " + fields + "}]",
        .more = "stores: [{name: shared, redis: [\"" + redis_->address() + "\"], " + store + "}]"});
  }

  static StatusCode CallBy(const SidecarProcess& sidecar) {
    return CallUnary(NewChannel(sidecar.address())).status.error_code();
  }

  // At its start a sidecar is not connected yet. It counts itself when it is.
  void AwaitSidecars(int count) {
    const std::string line = std::to_string(count) + "\n";
    while (redis_->Command({"ZCARD", "levee:sidecars:test/all"}) != line) {
    }
  }

  FaultyService service_;
  std::unique_ptr<RedisProcess> redis_;
};

TEST_F(GlobalLimit, SidecarsHaveTheRateTogether) {
  // A rate of one in an hour: after the burst there is nothing for the length of the test.
  std::vector<std::unique_ptr<SidecarProcess>> sidecars;
  for (int i = 0; i < 3; ++i) sidecars.push_back(Sidecar("rate: 1/h, burst: 12, on_failure: deny"));
  AwaitSidecars(3);
  for (int i = 0; i < 30; ++i) CallBy(*sidecars[static_cast<size_t>(i % 3)]);
  EXPECT_LE(service_.calls(), 12);
  EXPECT_GE(service_.calls(), 1);  // A lease may end on a slow machine before it is used.
  EXPECT_EQ(CallBy(*sidecars[0]), StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(GlobalLimit, HandshakesWithTheStoreAreCountedByItsName) {
  const Authority authority;
  const PemPair pair = authority.Issue({.names = {"redis.test"}});
  const TempFile certificate(pair.certificate), key(pair.key), ca(authority.pem());
  const RedisProcess redis({"--tls-port", RedisProcess::kOtherPort, "--tls-auth-clients", "no",
                            "--tls-cert-file", certificate.path(), "--tls-key-file", key.path(),
                            "--tls-ca-cert-file", ca.path()});
  const auto store = [&](const std::string& name) {
    return absl::StrCat("stores: [{name: shared, redis: [\"127.0.0.1:", redis.other_port(),
                        "\"], tls: {ca: ", ca.path(), ", server_name: ", name, "}}]");
  };
  ConfigParts parts = {
      .endpoints = {service_.address()},
      .policy = ", rate_limit: [{name: all, scope: global, store: shared, rate: 1/s}]",
      .more = store("redis.test")};
  const std::vector<std::string> series = {R"(upstream="none")", R"(side="store shared")"};
  const auto handshakes = [&](const std::string& result) {
    std::vector<std::string> labels = series;
    labels.push_back(absl::StrCat("result=\"", result, "\""));
    return labels;
  };
  {
    const SidecarProcess sidecar(parts);
    EXPECT_TRUE(sidecar.WaitForSum("levee_tls_handshakes_total", handshakes("success"), 1));
    EXPECT_EQ(sidecar.Sum("levee_tls_handshake_seconds_count", series), 1);
    EXPECT_GT(sidecar.Sum("levee_tls_handshake_seconds_sum", series), 0);
  }
  parts.more = store("other.test");
  const SidecarProcess refused(parts);
  EXPECT_TRUE(refused.WaitForSumAtLeast("levee_tls_handshakes_total", handshakes("wrong_name"), 1));
}

TEST_F(GlobalLimit, R1_NothingIsRefusedBelowTheLimit) {
  const auto one = Sidecar("rate: 100000/s, burst: 20000");
  const auto other = Sidecar("rate: 100000/s, burst: 20000");
  AwaitSidecars(2);
  const auto codes = RunLoad({NewChannel(one->address()), NewChannel(other->address())},
                             {.calls = 2000, .at_once = 8});
  EXPECT_EQ(codes.at(StatusCode::OK), 2000);
}

TEST_F(GlobalLimit, R4_TheKeyInRedisGoesWhenItsBucketIsFull) {
  const auto sidecar = Sidecar("rate: 1/s, burst: 3");
  const auto there = [&] { return redis_->Command({"EXISTS", "levee:rate:test/all:"}) == "1\n"; };
  while (!there()) CallBy(*sidecar);
  while (there()) {
  }
}

TEST_F(GlobalLimit, R3_WithoutRedisTheLimitSaysWhatHappens) {
  const auto deny = Sidecar("rate: 1000/s, burst: 100, on_failure: deny");
  const auto allow = Sidecar("rate: 1/h, on_failure: allow");
  while (CallBy(*deny) != StatusCode::OK) {
  }
  redis_->Kill();
  while (CallBy(*deny) == StatusCode::OK) {
  }
  while (CallBy(*allow) != StatusCode::OK) {
  }
  EXPECT_TRUE(deny->WaitForSum("levee_store_connected", {}, 0));
  EXPECT_TRUE(deny->WaitForSum("levee_rate_limit_lease", {R"(state="fallback")"}, 1));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(CallBy(*allow), StatusCode::OK) << i;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(CallBy(*deny), StatusCode::RESOURCE_EXHAUSTED) << i;
  redis_->Restart();
  while (CallBy(*deny) != StatusCode::OK) {
  }
  EXPECT_TRUE(deny->WaitForSum("levee_store_connected", {}, 1));
  EXPECT_TRUE(deny->WaitForSum("levee_rate_limit_lease", {R"(state="leased")"}, 1));
  EXPECT_GE(deny->Sum("levee_store_requests_total", {R"(result="ok")"}), 1);
  EXPECT_GE(deny->Sum("levee_store_requests_total", {R"(result="unavailable")"}), 1);
}

TEST_F(GlobalLimit, R3_CallsGoOnWhenRedisStopsAndWhenItIsEmptied) {
  const auto sidecar = Sidecar("rate: 100000/s, burst: 20000", "timeout: 50ms");
  AwaitSidecars(1);
  const auto channel = NewChannel(sidecar->address());
  const auto ok = [&] { return RunLoad({channel}, {.calls = 200, .at_once = 1})[StatusCode::OK]; };
  EXPECT_EQ(ok(), 200);
  redis_->Signal(SIGSTOP);
  EXPECT_GE(ok(), 5);
  redis_->Signal(SIGCONT);
  redis_->Command({"FLUSHALL"});
  redis_->Command({"SCRIPT", "FLUSH"});
  while (ok() != 200) {
  }
}

TEST_F(GlobalLimit, AReloadChangesTheStoreOfALimit) {
  RedisProcess second;
  const auto sidecar = Sidecar("rate: 100/s, burst: 100, on_failure: deny");
  while (CallBy(*sidecar) != StatusCode::OK) {
  }
  redis_->Kill();
  sidecar->Rewrite(
      {.endpoints = {service_.address()},
       .policy = ", rate_limit: [{name: all, scope: global, store: shared, rate: "
                 "100/s, burst: 100, on_failure: deny}]",
       .more = "stores: [{name: shared, redis: [\"" + second.address() + "\"], timeout: 5s}]"});
  while (CallBy(*sidecar) != StatusCode::OK) {
  }
}

}  // namespace
}  // namespace levee
