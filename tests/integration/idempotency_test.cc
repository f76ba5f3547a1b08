// SPDX-License-Identifier: Apache-2.0
// Retries of calls that may have been processed, and idempotency keys.
#include <mutex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/descriptors.h"
#include "integration/faulty_service.h"
#include "integration/raw_upstream.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;

constexpr char kAmpleRetry[] = "{budget: {ratio: 100}}";
constexpr char kAlways[] = ", idempotency: {mode: always}";

// Reads a request and resets its stream, after it has surely been processed.
RawUpstream::Script ResetFirst(int resets, std::vector<std::string>* keys, std::mutex* mutex) {
  return [=](UpstreamPeer& peer) {
    peer.Handshake();
    int seen = 0;
    while (const auto request = peer.NextRequest()) {
      {
        const std::lock_guard lock(*mutex);
        keys->push_back(Values(request->head, "idempotency-key"));
      }
      if (++seen <= resets) {
        peer.WriteReset(request->stream, H2Error::kInternal);
      } else {
        peer.Answer(request->stream);
      }
    }
  };
}

struct Reset {
  explicit Reset(const std::string& policy, const std::string& retry = kAmpleRetry,
                 const std::string& more_upstream = "")
      : upstream(ResetFirst(2, &keys, &mutex)),
        sidecar({.endpoints = {upstream.address()},
                 .retry = retry,
                 .policy = policy,
                 .upstream = more_upstream}),
        channel(NewChannel(sidecar.address())) {}

  std::mutex mutex;
  std::vector<std::string> keys;  // of every attempt
  RawUpstream upstream;
  SidecarProcess sidecar;
  ChannelPtr channel;
};

TEST(Idempotency, A68_AResetAfterTheRequestLeftIsNotRetried) {
  Reset run("");
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::INTERNAL);
  EXPECT_EQ(run.keys.size(), 1u);
  EXPECT_EQ(run.keys[0], "");
}

TEST(Idempotency, A68_AResetIsRetriedWhenItIsListed) {
  Reset run("", "{budget: {ratio: 100}, failures: [reset]}");
  EXPECT_TRUE(CallUnary(run.channel).status.ok());
  EXPECT_EQ(run.keys.size(), 3u);
}

TEST(Idempotency, A68_AResetIsRetriedForMethodsThatAreAlwaysIdempotent) {
  Reset run(kAlways);
  EXPECT_TRUE(CallUnary(run.channel).status.ok());
  EXPECT_EQ(run.keys.size(), 3u);
}

TEST(Idempotency, A68_AResetIsRetriedForMethodsWhoseDescriptorSaysSo) {
  const TempFile descriptors(Descriptors());
  Reset run("", kAmpleRetry, ", descriptor_set: \"" + descriptors.path() + "\"");
  EXPECT_FALSE(CallUnary(run.channel, "x", nullptr, "/test.Echo/Collect").status.ok());
  EXPECT_EQ(run.keys.size(), 1u);
  EXPECT_TRUE(CallUnary(run.channel, "x", nullptr, "/test.Echo/Unary").status.ok());
  EXPECT_EQ(run.keys.size(), 3u);
}

TEST(Idempotency, A68_AKeyIsAddedOnceAndIsTheSameOnEveryAttempt) {  // A69
  Reset run(", idempotency: {key: {header: Idempotency-Key}}");
  EXPECT_TRUE(CallUnary(run.channel).status.ok());
  EXPECT_TRUE(CallUnary(run.channel).status.ok());
  ASSERT_EQ(run.keys.size(), 4u);
  EXPECT_EQ(run.keys[0].size(), 36u);
  EXPECT_EQ(run.keys[1], run.keys[0]);
  EXPECT_EQ(run.keys[2], run.keys[0]);
  EXPECT_NE(run.keys[3], run.keys[0]);
}

TEST(Idempotency, A69_AnApplicationsOwnKeyIsKept) {
  Reset run(", idempotency: {key: {header: idempotency-key}}");
  const auto own = [](grpc::ClientContext& context) {
    context.AddMetadata("idempotency-key", "order-17");
  };
  EXPECT_TRUE(CallUnary(run.channel, "body", own).status.ok());
  EXPECT_EQ(run.keys, (std::vector<std::string>{"order-17", "order-17", "order-17"}));
}

TEST(Idempotency, WithModeNeverEvenAListedCodeIsNotRetried) {
  FaultyService service(FailFirst(1));
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = kAmpleRetry,
                          .policy = ", idempotency: {mode: never, key: {header: x-key}}"});
  EXPECT_FALSE(CallUnary(NewChannel(sidecar.address())).status.ok());
  EXPECT_EQ(service.calls(), 1);
  EXPECT_EQ(Values(service.seen()[0].metadata, "x-key").size(), 36u);
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_refused_total", {R"(reason="not_idempotent")"}, 1));
}

}  // namespace
}  // namespace levee
