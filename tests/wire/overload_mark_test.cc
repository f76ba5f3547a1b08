// SPDX-License-Identifier: Apache-2.0
#include "wire/overload_mark.h"

#include <string>

#include "gtest/gtest.h"
#include "wire/details_text.h"

namespace levee {
namespace {

using Signal = OverloadMark::Signal;

constexpr HonoredSignals kEverySignal = {
    .levee = true, .error_info = true, .pushback = true, .envoy = true};

std::optional<OverloadMark> Find(std::string_view name, std::string_view value,
                                 HonoredSignals honored = {}) {
  Metadata trailers;
  trailers.Add("grpc-status", "8");
  trailers.Add(name, value);
  return FindOverloadMark(trailers, honored);
}

std::optional<OverloadMark> FindLevee(std::string_view value) {
  return Find("levee-overload", value);
}

TEST(OverloadMark, TrailersWithoutASignalCarryNone) {
  EXPECT_FALSE(Find("grpc-message", "overloaded, do not retry", kEverySignal).has_value());
  EXPECT_FALSE(FindOverloadMark(Metadata(), kEverySignal).has_value());
}

TEST(OverloadMark, LeveeFieldIsReadWithItsParameters) {
  const auto mark = FindLevee("service;reason=budget;upstream=cart;hops=2");
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->signal, Signal::kLevee);
  EXPECT_EQ(mark->scope, OverloadScope::kService);
  EXPECT_EQ(mark->reason, "budget");
  EXPECT_EQ(mark->upstream, "cart");
  EXPECT_EQ(mark->hops, 2);
}

TEST(OverloadMark, TheTokenAloneIsEnough) {
  const auto mark = FindLevee("endpoint");
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->scope, OverloadScope::kEndpoint);
  EXPECT_EQ(mark->reason, "");
  EXPECT_EQ(mark->hops, 1);
}

TEST(OverloadMark, ParametersOfANewerSidecarArePassedOver) {
  const auto mark = FindLevee("service;since=1.5;shed;reason=\"new reason\";hops=1");
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->reason, "new reason");
}

TEST(OverloadMark, HopsStayWithinTheirRange) {
  EXPECT_EQ(FindLevee("service;hops=0")->hops, 1);
  EXPECT_EQ(FindLevee("service;hops=-5")->hops, 1);
  EXPECT_EQ(FindLevee("service;hops=255")->hops, 255);
  EXPECT_EQ(FindLevee("service;hops=999999999999999")->hops, 255);
  EXPECT_EQ(FindLevee("service;hops=many")->hops, 1);
}

TEST(OverloadMark, WhatIsNotWellFormedIsNoMark) {
  for (const char* value : {"", "Service", "\"service\"", "services", "service,endpoint",
                            "service;", "service;hops=", "service hops=1", "1"}) {
    EXPECT_FALSE(FindLevee(value).has_value()) << value;
  }
}

TEST(OverloadMark, TwoFieldsAreNoItem) {
  Metadata trailers;
  trailers.Add("levee-overload", "service");
  trailers.Add("levee-overload", "service");
  EXPECT_FALSE(FindOverloadMark(trailers, {}).has_value());
}

TEST(OverloadMark, NegativePushbackIsAServiceMark) {
  const auto mark = Find("grpc-retry-pushback-ms", "-1");
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->signal, Signal::kPushback);
  EXPECT_EQ(mark->scope, OverloadScope::kService);
  EXPECT_EQ(mark->reason, "pushback");
  EXPECT_EQ(mark->hops, 1);
}

TEST(OverloadMark, A37_UnparsablePushbackIsANegativeOne) {
  EXPECT_TRUE(Find("grpc-retry-pushback-ms", "xxx").has_value());
  EXPECT_FALSE(Find("grpc-retry-pushback-ms", "1000").has_value());
}

TEST(OverloadMark, EnvoysFieldIsOneInstanceSpeaking) {
  EXPECT_FALSE(Find("x-envoy-overloaded", "true").has_value());
  const auto mark = Find("x-envoy-overloaded", "true", kEverySignal);
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->signal, Signal::kEnvoy);
  EXPECT_EQ(mark->scope, OverloadScope::kEndpoint);
}

TEST(OverloadMark, SignalsThatAreNotHonouredAreNotSeen) {
  const HonoredSignals none = {.levee = false, .error_info = false, .pushback = false};
  EXPECT_FALSE(Find("levee-overload", "service", none).has_value());
  EXPECT_FALSE(Find("grpc-retry-pushback-ms", "-1", none).has_value());
  const std::string details = EncodeDetails(8, "m", {OverloadInfo({{"scope", "service"}})});
  EXPECT_FALSE(Find("grpc-status-details-bin", details, none).has_value());
}

// Marks are kept for as long as the calls last to which they are tied.
TEST(OverloadMark, VeryLongTextsAreLeftOut) {
  const std::string fits(OverloadMark::kMaxText, 'x');
  for (const std::string& text : {fits, fits + "x"}) {
    const std::string details =
        EncodeDetails(8, "m", {OverloadInfo({{"scope", "service"}, {"upstream", text}})});
    const auto mark = Find("grpc-status-details-bin", details);
    ASSERT_TRUE(mark.has_value());
    EXPECT_EQ(mark->upstream, text == fits ? fits : "");
  }
  EXPECT_FALSE(FindLevee("service;upstream=" + fits).has_value());
}

TEST(OverloadMark, SignalsHaveTheirPrecedence) {
  Metadata trailers;
  trailers.Add("x-envoy-overloaded", "true");
  EXPECT_EQ(FindOverloadMark(trailers, kEverySignal)->signal, Signal::kEnvoy);
  trailers.Add("grpc-retry-pushback-ms", "-1");
  EXPECT_EQ(FindOverloadMark(trailers, kEverySignal)->signal, Signal::kPushback);
  trailers.Add("grpc-status-details-bin", EncodeDetails(8, "m", {OverloadInfo({})}));
  EXPECT_EQ(FindOverloadMark(trailers, kEverySignal)->signal, Signal::kErrorInfo);
  trailers.Add("levee-overload", "endpoint");
  EXPECT_EQ(FindOverloadMark(trailers, kEverySignal)->signal, Signal::kLevee);
}

TEST(OverloadMark, AMalformedFieldLeavesTheWordToTheNextSignal) {
  Metadata trailers;
  trailers.Add("levee-overload", "service;");
  trailers.Add("grpc-retry-pushback-ms", "-1");
  EXPECT_EQ(FindOverloadMark(trailers, {})->signal, Signal::kPushback);
}

TEST(OverloadMark, IsWrittenAsInTheContract) {
  OverloadMark mark;
  mark.reason = "budget";
  mark.upstream = "cart";
  EXPECT_EQ(FormatOverloadMark(mark), "service;reason=budget;upstream=cart;hops=1");
  mark.scope = OverloadScope::kEndpoint;
  mark.upstream = "my cart";
  mark.hops = 300;
  EXPECT_EQ(FormatOverloadMark(mark), "endpoint;reason=budget;upstream=\"my cart\";hops=255");
}

TEST(OverloadMark, IsAddedToTrailersThatHaveNone) {
  Metadata trailers;
  trailers.Add("grpc-status", "13");
  trailers.Add("grpc-retry-pushback-ms", "10");
  AddOverloadMark({.reason = "queue", .upstream = "cart", .hops = 3}, trailers);
  EXPECT_EQ(trailers.Get("levee-overload"), "service;reason=queue;upstream=cart;hops=3");
  EXPECT_EQ(trailers.Get("grpc-retry-pushback-ms"), "-1");
  EXPECT_EQ(trailers.Get("grpc-status"), "13");
  AddOverloadMark({.reason = "budget", .upstream = "stock"}, trailers);
  EXPECT_EQ(trailers.Count("levee-overload"), 1u);
  EXPECT_EQ(trailers.Get("levee-overload"), "service;reason=queue;upstream=cart;hops=3");
}

TEST(OverloadMark, EmptyParametersAreLeftOut) {
  EXPECT_EQ(FormatOverloadMark(OverloadMark()), "service;hops=1");
}

}  // namespace
}  // namespace levee
