// SPDX-License-Identifier: Apache-2.0
// Headers and trailers of many kilobytes, and of many fields.
#include <string>

#include "gmock/gmock.h"
#include "integration/attacker.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/scripted.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

constexpr size_t kKiB = 1024;

// A client that takes as much metadata as gRPC can be told to take.
ChannelPtr PatientChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, 1 << 20);
  return NewChannel(address, arguments);
}

FaultyService::Script Answers(const FieldList& head, const FieldList& trailers) {
  Answer answer;
  answer.head = head;
  answer.trailers = trailers;
  return [answer](const SeenCall&) { return answer; };
}

TEST(LargeMetadata, E10_HeadersAndTrailersOf16To64KiBPass) {
  for (const size_t bytes : {17 * kKiB, 40 * kKiB, 64 * kKiB}) {
    const std::string value(bytes, '~');
    FaultyService service(Answers({{"x-head", value}}, {{"x-trailer", value}}));
    SidecarProcess sidecar({.endpoints = {service.address()}});
    const Reply reply = CallUnary(PatientChannel(sidecar.address()));
    EXPECT_TRUE(reply.status.ok()) << bytes << " " << reply.status.error_message();
    EXPECT_EQ(Values(reply.head, "x-head"), value);
    EXPECT_EQ(Values(reply.trailers, "x-trailer"), value);
  }
}

TEST(LargeMetadata, E10_SevenHundredTrailersPass) {
  FieldList trailers;
  for (int i = 0; i < 700; ++i) {
    trailers.emplace_back("x-" + std::to_string(i), std::string(50, 'v'));
  }
  FaultyService service(Answers({}, trailers));
  SidecarProcess sidecar({.endpoints = {service.address()}});
  const Reply reply = CallUnary(PatientChannel(sidecar.address()));
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_EQ(reply.trailers.size(), 700u);
}

// The service is one that keeps to what a peer says it takes.
TEST(LargeMetadata, E10_AnAnswerAboveTheLimitNamesIt) {
  struct Case {
    const char* limits;
    size_t bytes;
  };
  for (const Case& over : {Case{"", 150 * kKiB}, Case{"limits: {metadata_bytes: 1KiB}\n", 2000}}) {
    FaultyService service(Answers({}, {{"x-trailer", std::string(over.bytes, '~')}}));
    SidecarProcess sidecar({.endpoints = {service.address()}, .more = over.limits});
    const Reply reply = CallUnary(PatientChannel(sidecar.address()));
    EXPECT_EQ(reply.status.error_code(), StatusCode::INTERNAL);
    EXPECT_THAT(reply.status.error_message(), HasSubstr("limits.metadata_bytes")) << over.bytes;
    EXPECT_EQ(Hits(sidecar, "metadata_bytes"), 1);
  }
}

TEST(LargeMetadata, E10_OfCallersFromElsewhereMayHave16KiBAndTheApplicationsAnswersMore) {
  RawUpstream application(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerTrailersOnly(request.stream, 0, {{"x-large", std::string(60 * kKiB, '~')}});
  }));
  SidecarProcess sidecar({.endpoints = {application.address()},
                          .retry = kNoRetry,
                          .route = "match: {listener: egress}, ",
                          .listener = ", direction: inbound"});
  RawClient client(sidecar.address());
  const RawAnswer fits = client.AnswerTo(client.Call({{"x-large", std::string(15 * kKiB, '~')}}));
  EXPECT_EQ(fits.grpc_status(), "0") << fits.grpc_message();
  EXPECT_EQ(Values(fits.head, "x-large").size(), 60 * kKiB);
  const RawAnswer over = client.AnswerTo(client.Call({{"x-large", std::string(17 * kKiB, '~')}}));
  EXPECT_EQ(over.grpc_status(), "8");
  EXPECT_THAT(over.grpc_message(), HasSubstr("limits.metadata_bytes"));
}

}  // namespace
}  // namespace levee
