// SPDX-License-Identifier: Apache-2.0
#include "wire/status_details.h"

#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "wire/details_text.h"

namespace levee {
namespace {

constexpr char kField[] = "grpc-status-details-bin";

MarkedStatus BudgetUsedUp() {
  MarkedStatus status;
  status.code = StatusCode::kResourceExhausted;
  status.message = "overloaded, do not retry: budget used up after 2 attempts, last UNAVAILABLE: x";
  status.original_code = StatusCode::kUnavailable;
  status.attempts = 2;
  status.mark.reason = "budget";
  status.mark.upstream = "cart";
  return status;
}

struct TrailersWith : Metadata {
  explicit TrailersWith(const std::string& details) {
    Add("grpc-status", "14");
    Add(kField, details);
  }
};

TEST(StatusDetails, A62_MarkedAnswerHasTheFieldsOfTheContract) {
  Metadata trailers;
  ApplyOverloadMark(BudgetUsedUp(), trailers);
  EXPECT_EQ(trailers.Get("grpc-status"), "8");
  EXPECT_EQ(trailers.Get("grpc-message"), BudgetUsedUp().message);
  EXPECT_EQ(trailers.Get("grpc-retry-pushback-ms"), "-1");
  EXPECT_EQ(trailers.Get("levee-overload"), "service;reason=budget;upstream=cart;hops=1");
  EXPECT_EQ(trailers.size(), 5u);
}

TEST(StatusDetails, A62_OriginalIsInTheErrorInfo) {
  Metadata trailers;
  ApplyOverloadMark(BudgetUsedUp(), trailers);
  const wire::v1::RpcStatus status = DecodeDetails(trailers.Get(kField));
  EXPECT_EQ(status.code(), 8);
  EXPECT_EQ(status.message(), BudgetUsedUp().message);
  ASSERT_EQ(status.details_size(), 1);
  const wire::v1::ErrorInfo info = DecodeErrorInfo(status.details(0));
  EXPECT_EQ(info.reason(), "OVERLOADED_DO_NOT_RETRY");
  EXPECT_EQ(info.domain(), "levee");
  EXPECT_EQ(info.metadata().at("scope"), "service");
  EXPECT_EQ(info.metadata().at("reason"), "budget");
  EXPECT_EQ(info.metadata().at("upstream"), "cart");
  EXPECT_EQ(info.metadata().at("original_code"), "UNAVAILABLE");
  EXPECT_EQ(info.metadata().at("attempts"), "2");
  EXPECT_EQ(info.metadata().size(), 5u);
}

// The bytes of google.rpc.Status, written down by hand from its field numbers.
TEST(StatusDetails, WireFormatIsGooglesStatus) {
  MarkedStatus status = BudgetUsedUp();
  status.message = "m";
  const wire::v1::RpcStatus parsed = DecodeDetails(MarkedDetails(status, Metadata()));
  const std::string bytes = parsed.SerializeAsString();
  EXPECT_EQ(bytes.substr(0, 6), std::string("\x08\x08\x12\x01m\x1a", 6));
  EXPECT_NE(bytes.find("\x0a\x28type.googleapis.com/google.rpc.ErrorInfo\x12"), std::string::npos);
  EXPECT_NE(bytes.find("\x0a\x17OVERLOADED_DO_NOT_RETRY\x12\x05levee\x1a"), std::string::npos);
  EXPECT_NE(bytes.find("\x0a\x05scope\x12\x07service"), std::string::npos);
}

TEST(StatusDetails, EqualAnswersHaveEqualBytes) {
  const std::string first = MarkedDetails(BudgetUsedUp(), Metadata());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(MarkedDetails(BudgetUsedUp(), Metadata()), first);
}

TEST(StatusDetails, IsWrittenWithoutPadding) {
  MarkedStatus status = BudgetUsedUp();
  for (const char* message : {"", "m", "mm"}) {
    status.message = message;
    const std::string value = MarkedDetails(status, Metadata());
    EXPECT_EQ(value.find('='), std::string::npos);
    EXPECT_EQ(DecodeDetails(value).message(), message);
  }
}

TEST(StatusDetails, A67_ExistingDetailsSurviveAndTheCodeIsTheOneSent) {
  TrailersWith trailers(EncodeDetails(14, "x", {OtherDetail("kept"), OtherDetail("b")}));
  ApplyOverloadMark(BudgetUsedUp(), trailers);
  const wire::v1::RpcStatus status = DecodeDetails(trailers.Get(kField));
  EXPECT_EQ(status.code(), 8);
  ASSERT_EQ(status.details_size(), 3);
  EXPECT_EQ(status.details(0).value(), "kept");
  EXPECT_EQ(status.details(1).value(), "b");
  EXPECT_EQ(DecodeErrorInfo(status.details(2)).metadata().at("reason"), "budget");
  EXPECT_EQ(trailers.Count(kField), 1u);
}

TEST(StatusDetails, DetailsThatCannotBeReadAreReplaced) {
  for (const char* garbage : {"!!!", "_-", "AAAA", "CA"}) {
    TrailersWith trailers(garbage);
    ApplyOverloadMark(BudgetUsedUp(), trailers);
    const wire::v1::RpcStatus status = DecodeDetails(trailers.Get(kField));
    EXPECT_EQ(status.code(), 8) << garbage;
    EXPECT_EQ(status.details_size(), 1) << garbage;
  }
}

TEST(StatusDetails, DetailsThatBreakOffAreReplacedAsAWhole) {
  wire::v1::RpcStatus whole;
  *whole.add_details() = OtherDetail("lost");
  // The tag and length of one more detail, of which nothing follows.
  const std::string broken = absl::Base64Escape(whole.SerializeAsString() + "\x1a\x7f");
  const wire::v1::RpcStatus status =
      DecodeDetails(MarkedDetails(BudgetUsedUp(), TrailersWith(broken)));
  ASSERT_EQ(status.details_size(), 1);
  EXPECT_EQ(DecodeErrorInfo(status.details(0)).domain(), "levee");
}

TEST(StatusDetails, AMarkPassedOnIsNotRepeated) {
  Metadata trailers;
  ApplyOverloadMark(BudgetUsedUp(), trailers);
  MarkedStatus above = BudgetUsedUp();
  above.mark.hops = 2;
  above.attempts = 1;
  above.original_code = StatusCode::kResourceExhausted;
  ApplyOverloadMark(above, trailers);
  EXPECT_EQ(trailers.Get("levee-overload"), "service;reason=budget;upstream=cart;hops=2");
  const wire::v1::RpcStatus status = DecodeDetails(trailers.Get(kField));
  ASSERT_EQ(status.details_size(), 1);
  EXPECT_EQ(DecodeErrorInfo(status.details(0)).metadata().at("original_code"), "UNAVAILABLE");
  EXPECT_EQ(DecodeErrorInfo(status.details(0)).metadata().at("attempts"), "2");
}

TEST(StatusDetails, AnotherReasonIsAppended) {
  Metadata trailers;
  ApplyOverloadMark(BudgetUsedUp(), trailers);
  MarkedStatus above = BudgetUsedUp();
  above.mark.reason = "max_attempts";
  ApplyOverloadMark(above, trailers);
  EXPECT_EQ(DecodeDetails(trailers.Get(kField)).details_size(), 2);
}

TEST(StatusDetails, EverythingElseInTheTrailersStays) {
  Metadata trailers;
  trailers.Add(":status", "200");
  trailers.Add("content-type", "application/grpc");
  trailers.Add("grpc-status", "14");
  trailers.Add("grpc-message", "old");
  trailers.Add("x-shop", "1");
  trailers.Add("x-shop", "2");
  ApplyOverloadMark(BudgetUsedUp(), trailers);
  EXPECT_EQ(trailers[0].name, ":status");
  EXPECT_EQ(trailers.Count("x-shop"), 2u);
  EXPECT_EQ(trailers.Count("grpc-status"), 1u);
  EXPECT_EQ(trailers.Count("grpc-message"), 1u);
}

TEST(StatusDetails, ScopeEndpointLeavesThePushbackAlone) {
  MarkedStatus status = BudgetUsedUp();
  status.mark.scope = OverloadScope::kEndpoint;
  Metadata trailers;
  ApplyOverloadMark(status, trailers);
  EXPECT_FALSE(trailers.Has("grpc-retry-pushback-ms"));
  EXPECT_EQ(trailers.Get("levee-overload"), "endpoint;reason=budget;upstream=cart;hops=1");
  trailers.Add("grpc-retry-pushback-ms", "1000");
  ApplyOverloadMark(status, trailers);
  EXPECT_EQ(trailers.Get("grpc-retry-pushback-ms"), "1000");
}

TEST(StatusDetails, ScopeServiceReplacesADelayByDoNotRetry) {
  Metadata trailers;
  trailers.Add("grpc-retry-pushback-ms", "1000");
  ApplyOverloadMark(BudgetUsedUp(), trailers);
  EXPECT_EQ(trailers.Get("grpc-retry-pushback-ms"), "-1");
  EXPECT_EQ(trailers.Count("grpc-retry-pushback-ms"), 1u);
}

TEST(StatusDetails, MessageIsPercentEncodedInItsFieldAndUtf8InTheDetails) {
  MarkedStatus status = BudgetUsedUp();
  status.message = "caf\xc3\xa9 \xff\xe2\x82 100%";
  Metadata trailers;
  ApplyOverloadMark(status, trailers);
  EXPECT_EQ(trailers.Get("grpc-message"), "caf%C3%A9 %FF%E2%82 100%25");
  EXPECT_EQ(DecodeDetails(trailers.Get(kField)).message(), "caf\xc3\xa9 ??? 100%");
}

TEST(StatusDetails, ErrorInfoIsReadAsAMark) {
  const auto mark = FindMarkInDetails(TrailersWith(EncodeDetails(
      8, "m",
      {OtherDetail("a"),
       OverloadInfo({{"scope", "endpoint"}, {"reason", "advice"}, {"upstream", "cart"}})})));
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->signal, OverloadMark::Signal::kErrorInfo);
  EXPECT_EQ(mark->scope, OverloadScope::kEndpoint);
  EXPECT_EQ(mark->reason, "advice");
  EXPECT_EQ(mark->upstream, "cart");
  EXPECT_EQ(mark->hops, 1);
}

TEST(StatusDetails, ErrorInfoOfAnyDomainWithoutScopeMeansService) {
  const auto mark =
      FindMarkInDetails(TrailersWith(EncodeDetails(8, "m", {OverloadInfo({}, "shop.example")})));
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->scope, OverloadScope::kService);
  EXPECT_EQ(mark->reason, "");
}

TEST(StatusDetails, TheLastErrorInfoCounts) {
  const auto mark = FindMarkInDetails(TrailersWith(EncodeDetails(
      8, "m", {OverloadInfo({{"scope", "endpoint"}}), OverloadInfo({{"scope", "service"}})})));
  EXPECT_EQ(mark->scope, OverloadScope::kService);
}

TEST(StatusDetails, PaddingMayBeThere) {
  for (const char* message : {"m", "mm", "mmm"}) {
    std::string value = EncodeDetails(8, message, {OverloadInfo({})});
    EXPECT_TRUE(FindMarkInDetails(TrailersWith(value)).has_value());
    value.append((4 - value.size() % 4) % 4, '=');
    EXPECT_TRUE(FindMarkInDetails(TrailersWith(value)).has_value());
  }
}

TEST(StatusDetails, OtherDetailsAreNoMark) {
  wire::v1::ErrorInfo info;
  info.set_reason("QUOTA_EXCEEDED");
  google::protobuf::Any any;
  any.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  any.set_value(info.SerializeAsString());
  EXPECT_FALSE(FindMarkInDetails(TrailersWith(EncodeDetails(8, "m", {any}))).has_value());
  EXPECT_FALSE(
      FindMarkInDetails(TrailersWith(EncodeDetails(8, "m", {OtherDetail("x")}))).has_value());
  EXPECT_FALSE(FindMarkInDetails(TrailersWith("not base64!")).has_value());
  EXPECT_FALSE(FindMarkInDetails(Metadata()).has_value());
}

}  // namespace
}  // namespace levee
