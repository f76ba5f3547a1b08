// SPDX-License-Identifier: Apache-2.0
// Reading and continuing a trace.
#include "wire/traceparent.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr const char* kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr const char* kValid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(Traceparent, TheTraceIdOfAValidValueIsRead) {
  EXPECT_EQ(ParseTraceId(kValid), kTraceId);
  EXPECT_EQ(ParseTraceId("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), kTraceId);
  EXPECT_EQ(ParseTraceId("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff"), kTraceId);
}

TEST(Traceparent, ALaterVersionMayGoOnAfterTheFlags) {
  EXPECT_EQ(ParseTraceId("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), kTraceId);
  EXPECT_EQ(ParseTraceId("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-"), kTraceId);
  EXPECT_EQ(ParseTraceId("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-What.ever"),
            kTraceId);
}

TEST(Traceparent, ALaterVersionMayGoOnOnlyAfterADash) {
  EXPECT_FALSE(ParseTraceId("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what"));
  EXPECT_FALSE(ParseTraceId("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011"));
}

TEST(Traceparent, Version00EndsWithTheFlags) {
  EXPECT_FALSE(ParseTraceId("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-"));
  EXPECT_FALSE(ParseTraceId("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what"));
}

TEST(Traceparent, WhatIsTooShortIsInvalid) {
  const std::string rest = "-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  for (const std::string& valid : {"00" + rest, "cc" + rest}) {
    ASSERT_TRUE(ParseTraceId(valid));
    for (size_t size = 0; size < valid.size(); ++size) {
      EXPECT_FALSE(ParseTraceId(valid.substr(0, size))) << size;
    }
  }
}

TEST(Traceparent, EveryPartIsLowerCaseHexadecimal) {
  EXPECT_FALSE(ParseTraceId("0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  EXPECT_FALSE(ParseTraceId("00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01"));
  EXPECT_FALSE(ParseTraceId("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b/-01"));
  EXPECT_FALSE(ParseTraceId("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0`"));
  EXPECT_FALSE(ParseTraceId("00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01"));
  EXPECT_FALSE(ParseTraceId("CC-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
}

TEST(Traceparent, ThePartsAreSeparatedByDashes) {
  EXPECT_FALSE(ParseTraceId("00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  EXPECT_FALSE(ParseTraceId("00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01"));
  EXPECT_FALSE(ParseTraceId("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01"));
}

TEST(Traceparent, VersionFfIsInvalid) {
  EXPECT_FALSE(ParseTraceId("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
}

TEST(Traceparent, IdsOfZerosAloneAreInvalid) {
  EXPECT_FALSE(ParseTraceId("00-00000000000000000000000000000000-00f067aa0ba902b7-01"));
  EXPECT_FALSE(ParseTraceId("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"));
}

TEST(Traceparent, OnlyTheParentIdIsReplaced) {
  EXPECT_EQ(WithParentId(kValid, 0x0123456789abcdef),
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0123456789abcdef-01");
  EXPECT_EQ(WithParentId(kValid, 0xa), "00-4bf92f3577b34da6a3ce929d0e0e4736-000000000000000a-01");
}

TEST(Traceparent, WhatALaterVersionAddsIsKept) {
  EXPECT_EQ(WithParentId("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-What.ever",
                         0xfedcba9876543210),
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-fedcba9876543210-01-What.ever");
}

TEST(Traceparent, ThePartsOfAValidValueAreRead) {
  const auto parts = ParseTraceparent(kValid);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->trace_id, (TraceId{.high = 0x4bf92f3577b34da6, .low = 0xa3ce929d0e0e4736}));
  EXPECT_EQ(parts->parent_id, 0x00f067aa0ba902b7u);
  EXPECT_TRUE(parts->sampled);
  EXPECT_EQ(TraceIdText(parts->trace_id), kTraceId);
  EXPECT_EQ(TraceparentText(*parts), kValid);
  EXPECT_FALSE(ParseTraceparent("00-x").has_value());
}

TEST(Traceparent, OneBitOfTheFlagsSaysThatTheTraceIsSampled) {
  const std::string start = std::string("00-") + kTraceId + "-00f067aa0ba902b7-";
  for (const char* flags : {"01", "03", "ff", "0b"}) {
    EXPECT_TRUE(ParseTraceparent(start + flags)->sampled) << flags;
  }
  for (const char* flags : {"00", "02", "fe", "10"}) {
    EXPECT_FALSE(ParseTraceparent(start + flags)->sampled) << flags;
  }
}

TEST(Traceparent, AValueIsWrittenWithItsFlag) {
  EXPECT_EQ(TraceparentText({.trace_id = {.high = 1, .low = 2}, .parent_id = 3}),
            "00-00000000000000010000000000000002-0000000000000003-00");
}

TEST(Traceparent, ARequestsOnlyTraceparentIsRead) {
  Metadata request;
  EXPECT_FALSE(TraceparentOf(request).has_value());
  request.Add("traceparent", kValid);
  EXPECT_EQ(TraceparentOf(request)->parent_id, 0x00f067aa0ba902b7u);
  request.Add("traceparent", kValid);
  EXPECT_FALSE(TraceparentOf(request).has_value());
}

TEST(Traceparent, ANewOneIsValidAndBeginsATraceOfItsOwn) {
  Random random(1);
  const std::string first = NewTraceparent(random);
  const std::string second = NewTraceparent(random);
  ASSERT_TRUE(ParseTraceId(first).has_value()) << first;
  ASSERT_TRUE(ParseTraceId(second).has_value()) << second;
  EXPECT_NE(ParseTraceId(first), ParseTraceId(second));
  EXPECT_TRUE(first.starts_with("00-") && first.ends_with("-01")) << first;
}

TEST(Traceparent, ARequestBelongsToTheTraceOfItsOnlyTraceparent) {
  Metadata request;
  EXPECT_EQ(TraceIdOf(request), "");
  request.Add("tracestate", "vendor=1");
  EXPECT_EQ(TraceIdOf(request), "");
  request.Add("traceparent", kValid);
  EXPECT_EQ(TraceIdOf(request), kTraceId);
  request.Add("traceparent", kValid);
  EXPECT_EQ(TraceIdOf(request), "");
}

TEST(Traceparent, ARequestWithAnInvalidTraceparentBelongsToNone) {
  Metadata request;
  request.Add("traceparent", "00-x");
  EXPECT_EQ(TraceIdOf(request), "");
}

TEST(Traceparent, SpanIdsDifferAndReplayFromASeed) {
  Random random(7), same(7);
  const uint64_t first = NewSpanId(random);
  EXPECT_NE(first, 0u);
  EXPECT_NE(NewSpanId(random), first);
  EXPECT_EQ(NewSpanId(same), first);
}

}  // namespace
}  // namespace levee
