// SPDX-License-Identifier: Apache-2.0
// Metadata and statuses arrive as they were sent.
#include <string>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kBinary("\0\x01\xff\x80 ,=", 7);

// A service with one answer for all, behind a sidecar.
class Answering {
 public:
  explicit Answering(const Answer& answer)
      : service([answer](const SeenCall&) { return answer; }),
        sidecar({.endpoints = {service.address()}}),
        channel(NewChannel(sidecar.address())) {}

  FaultyService service;
  SidecarProcess sidecar;
  ChannelPtr channel;
};

TEST(MetadataThrough, RequestFieldsKeepOrderAndBytes) {
  Answering echo{Answer()};
  const Reply reply = CallUnary(echo.channel, "x", [](grpc::ClientContext& context) {
    context.AddMetadata("x-twice", "b");
    context.AddMetadata("x-other", "with spaces, commas; and = signs");
    context.AddMetadata("x-twice", "a");
    context.AddMetadata("x-twice", "c");
    context.AddMetadata("x-bytes-bin", kBinary);
    context.AddMetadata("x-long", std::string(5000, 'l'));
  });
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  const Fields seen = echo.service.seen().at(0).metadata;
  EXPECT_EQ(Values(seen, "x-twice"), "b, a, c");
  EXPECT_EQ(Values(seen, "x-other"), "with spaces, commas; and = signs");
  EXPECT_EQ(Values(seen, "x-bytes-bin"), kBinary);
  EXPECT_EQ(Values(seen, "x-long").size(), 5000u);
  EXPECT_THAT(Values(seen, "user-agent"), HasSubstr("grpc-c++"));
  EXPECT_EQ(Values(seen, "grpc-previous-rpc-attempts"), "");
}

TEST(MetadataThrough, TheAuthorityArrivesAsTheCallerSetIt) {
  Answering echo{Answer()};
  CallUnary(echo.channel, "x", [](grpc::ClientContext& c) { c.set_authority("cart.shop:50051"); });
  EXPECT_EQ(echo.service.seen().at(0).authority, "cart.shop:50051");
}

TEST(MetadataThrough, HeadAndTrailersOfAnAnswerArrive) {
  Answer answer;
  answer.head = {{"x-head", "2"}, {"x-head", "1"}, {"x-head-bin", kBinary}};
  answer.trailers = {{"x-trailer", "z"}, {"x-trailer", "y"}, {"x-trailer-bin", kBinary}};
  Answering echo{answer};
  const Reply reply = CallUnary(echo.channel);
  EXPECT_TRUE(reply.status.ok());
  EXPECT_EQ(Values(reply.head, "x-head"), "2, 1");
  EXPECT_EQ(Values(reply.head, "x-head-bin"), kBinary);
  EXPECT_EQ(Values(reply.trailers, "x-trailer"), "z, y");
  EXPECT_EQ(Values(reply.trailers, "x-trailer-bin"), kBinary);
}

TEST(MetadataThrough, AStatusMessageOutsideAsciiArrivesUnchanged) {
  const std::string message =
      "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \U0001F608, 100%\t\n";
  Answering echo{Fails(grpc::StatusCode::INVALID_ARGUMENT, message)};
  const Reply reply = CallUnary(echo.channel);
  EXPECT_EQ(reply.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(reply.status.error_message(), message);
}

TEST(MetadataThrough, AFailureWithoutHeadKeepsItsTrailersAndDetails) {
  Answer answer;
  answer.status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such cart", kBinary);
  answer.trailers = {{"x-trailer", "z"}, {"grpc-retry-pushback-ms", "70"}};
  Answering echo{answer};
  const Reply reply = CallUnary(echo.channel);
  EXPECT_EQ(reply.status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(reply.status.error_message(), "no such cart");
  EXPECT_EQ(reply.status.error_details(), kBinary);
  EXPECT_EQ(Values(reply.trailers, "x-trailer"), "z");
  EXPECT_EQ(Values(reply.trailers, "levee-overload"), "");
  EXPECT_EQ(echo.service.calls(), 1);
}

TEST(MetadataThrough, AFailureAfterHeadAndMessagesKeepsAll) {
  Answer answer = Fails(grpc::StatusCode::DATA_LOSS, "half of it");
  answer.fail_after = 2;
  answer.head = {{"x-head", "1"}};
  answer.trailers = {{"x-trailer", "z"}};
  Answering echo{answer};
  ByteCall call(echo.channel, "/test.Echo/Stream");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("5 100"));
  ASSERT_TRUE(call.HalfClose());
  EXPECT_TRUE(call.Read().has_value());
  EXPECT_TRUE(call.Read().has_value());
  EXPECT_FALSE(call.Read().has_value());
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(status.error_message(), "half of it");
  EXPECT_EQ(Values(call.head(), "x-head"), "1");
  EXPECT_EQ(Values(call.trailers(), "x-trailer"), "z");
}

TEST(MetadataThrough, EveryStatusCodeArrives) {
  FaultyService service([](const SeenCall& call) {
    return Fails(static_cast<grpc::StatusCode>(std::stoi(Values(call.metadata, "x-code"))));
  });
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = "{max_attempts: 1}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int code = 1; code <= 16; ++code) {
    const Reply reply = CallUnary(channel, "x", [code](grpc::ClientContext& context) {
      context.AddMetadata("x-code", std::to_string(code));
    });
    EXPECT_EQ(reply.status.error_code(), code);
  }
}

TEST(MetadataThrough, A65_ForgedMarksOfACallerAreDropped) {
  Answering echo{Answer()};
  CallUnary(echo.channel, "x", [](grpc::ClientContext& context) {
    context.AddMetadata("levee-overload", "service;reason=budget");
    context.AddMetadata("levee-anything", "1");
    context.AddMetadata("leveeless", "kept");
  });
  const Fields seen = echo.service.seen().at(0).metadata;
  EXPECT_EQ(Values(seen, "levee-overload"), "");
  EXPECT_EQ(Values(seen, "levee-anything"), "");
  EXPECT_EQ(Values(seen, "leveeless"), "kept");
}

TEST(MetadataThrough, CompressedMessagesPass) {
  Answering echo{Answer()};
  const std::string body(100'000, 'c');
  const Reply reply = CallUnary(echo.channel, body, [](grpc::ClientContext& context) {
    context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  });
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_TRUE(reply.body == body);
}

}  // namespace
}  // namespace levee
