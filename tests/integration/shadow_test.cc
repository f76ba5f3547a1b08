// SPDX-License-Identifier: Apache-2.0
// Shadow policies beside calls between real gRPC peers.
#include <string>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;

constexpr char kDecisions[] = "levee_shadow_decisions_total";

// Retries UNAVAILABLE up to three times; the shadow ABORTED, too, but makes two attempts at most.
ConfigParts WithShadow(const FaultyService& service) {
  return {.endpoints = {service.address()},
          .retry = "{max_attempts: 3, backoff: {initial: 1ms}, budget: {ratio: 100}}",
          .policy =
              "}, {name: candidate, retry: {codes: [UNAVAILABLE, ABORTED], max_attempts: 2, "
              "budget: {ratio: 100}}",
          .route = "shadow: candidate, "};
}

TEST(Shadows, CallsFollowTheirPolicyAndTheShadowIsCounted) {
  FaultyService service([](const SeenCall& call) {
    if (call.method == "/test.Aborted/Unary") return Fails(StatusCode::ABORTED);
    if (call.method == "/test.Down/Unary") return Fails(StatusCode::UNAVAILABLE);
    return Answer();
  });
  SidecarProcess sidecar(WithShadow(service));
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_EQ(CallUnary(channel, "hello", nullptr, "/test.Aborted/Unary").status.error_code(),
            StatusCode::ABORTED);
  EXPECT_TRUE(sidecar.WaitForSum(kDecisions, {R"(outcome="same")"}, 1));
  EXPECT_TRUE(sidecar.WaitForSum(kDecisions, {R"(outcome="more")"}, 1));
  EXPECT_EQ(service.calls(), 2);

  EXPECT_FALSE(CallUnary(channel, "hello", nullptr, "/test.Down/Unary").status.ok());
  EXPECT_TRUE(sidecar.WaitForSum(
      kDecisions, {R"(policy="test")", R"(shadow="candidate")", R"(outcome="fewer")"}, 1));
  EXPECT_EQ(service.calls(), 5);
  EXPECT_EQ(sidecar.Sum("levee_attempts_total"), 5);
}

}  // namespace
}  // namespace levee
