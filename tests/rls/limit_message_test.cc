// SPDX-License-Identifier: Apache-2.0
// The messages of a rate limit service. The bytes are written by hand from the numbers that Envoy
// publishes, so that they are not those of this repository's own .proto alone.
#include "rls/limit_message.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

using namespace std::string_literals;

// gRPC's frame around a short message.
std::string Framed(const std::string& message) {
  return "\0\0\0\0"s + static_cast<char>(message.size()) + message;
}

TEST(LimitMessage, ARequestHasItsDomainItsDescriptorAndItsHits) {
  LimitKey key;
  key.Add("tier", "paid");
  key.Add("tenant", "a");
  EXPECT_EQ(LimitRequestFrame("shop", key.entries(), 300),
            Framed("\x0a\x04shop"                      // domain = 1
                   "\x12\x1b"                          // descriptors = 2
                   "\x0a\x0c\x0a\x04tier\x12\x04paid"  // entries = 1: key = 1, value = 2
                   "\x0a\x0b\x0a\x06tenant\x12\x01"s +
                   "a\x18\xac\x02"));  // hits_addend = 3
}

TEST(LimitMessage, BytesThatNoTextMayHaveAreReplaced) {
  LimitKey key;
  key.Add("t", "a\xff\xc3\xa4");
  const std::string frame = LimitRequestFrame("d", key.entries(), 1);
  EXPECT_NE(frame.find("a?\xc3\xa4"), std::string::npos);
}

TEST(LimitMessage, AnAnswerTellsOfItsWindow) {
  const auto grant = ReadLimitResponse(Framed("\x08\x01"  // overall_code = 1: OK
                                              "\x12\x0d"  // statuses = 2
                                              "\x08\x01"  // code = 1
                                              "\x12\x05\x08\xe8\x07\x10\x02"s  // current_limit = 2
                                              "\x18\x09"     // limit_remaining = 3
                                              "\x22\x00"s),  // duration_until_reset = 4
                                       7);
  ASSERT_TRUE(grant.ok()) << grant.status();
  EXPECT_EQ(grant->granted, 7);
  EXPECT_EQ(grant->window, (ServiceWindow{.limit = 1000, .remaining = 9}));
}

TEST(LimitMessage, OverTheLimitGrantsNothingUntilItsWindowEnds) {
  const auto grant = ReadLimitResponse(Framed("\x08\x02\x12\x06\x08\x02\x22\x02\x08\x1e"s), 7);
  ASSERT_TRUE(grant.ok()) << grant.status();
  EXPECT_EQ(grant->granted, 0);
  EXPECT_EQ(grant->window, (ServiceWindow{.resets_in = absl::Seconds(30)}));
}

TEST(LimitMessage, FieldsThatAreNotKnownAreNoFault) {
  EXPECT_TRUE(ReadLimitResponse(Framed("\x08\x01\x2a\x01x\x32\x00"s), 1).ok());
}

TEST(LimitMessage, WhatIsNoAnswerIsAnError) {
  for (const std::string& frame :
       {""s, "\0\0\0"s, Framed(""), Framed("\x08\x03"), "\x01"s + Framed("\x08\x01").substr(1),
        Framed("\x08\x01") + "x", Framed("\x12\x7f")}) {
    EXPECT_FALSE(ReadLimitResponse(frame, 1).ok()) << frame.size();
  }
}

}  // namespace
}  // namespace levee
