// SPDX-License-Identifier: Apache-2.0
// Fields into header blocks: what is sent how, and what enters the table when.
#include "hpack/encoder.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hpack/run.h"

namespace levee::hpack {
namespace {

TEST(HpackEncoder, SendsFieldsOfTheStaticTableByTheirIndex) {
  Encoder encoder;
  EXPECT_EQ(Encode(encoder, {{":method", "POST"},
                             {":scheme", "http"},
                             {":path", "/"},
                             {":status", "200"},
                             {":status", "500"},
                             {"accept-encoding", "gzip, deflate"},
                             {"via", ""}}),
            FromHex("83 86 84 88 8e 90 bc"));
}

TEST(HpackEncoder, TakesTheNameFromTheStaticTable) {
  Encoder encoder;
  EXPECT_EQ(Encode(encoder, {{":path", "/a"}}), FromHex("04 02 2f61"));
  EXPECT_EQ(Encode(encoder, {{":status", "201"}}), FromHex("08 03 323031"));
  EXPECT_EQ(Encode(encoder, {{"www-authenticate", "x"}}), FromHex("0f2e 01 78"));
}

TEST(HpackEncoder, AFieldEntersTheTableWhenItComesAgain) {
  Encoder encoder;
  EXPECT_EQ(Encode(encoder, {{":path", "/a"}}), FromHex("04 02 2f61"));
  EXPECT_EQ(Encode(encoder, {{":path", "/a"}}), FromHex("44 02 2f61"));
  EXPECT_EQ(Encode(encoder, {{":path", "/a"}}), FromHex("be"));
}

TEST(HpackEncoder, AFieldThatComesTwiceInABlockEntersTheTable) {
  Encoder encoder;
  EXPECT_EQ(Encode(encoder, {{":path", "/a"}, {":path", "/a"}, {":path", "/a"}}),
            FromHex("04 02 2f61 44 02 2f61 be"));
}

TEST(HpackEncoder, ANameEntersTheTableWhenItComesAgainWithAnotherValue) {
  Encoder encoder;
  EXPECT_EQ(Encode(encoder, {{"id", "1"}}), FromHex("00 02 6964 01 31"));
  EXPECT_EQ(Encode(encoder, {{"id", "2"}}), FromHex("40 02 6964 01 32"));
  EXPECT_EQ(Encode(encoder, {{"id", "3"}}), FromHex("0f2f 01 33"));
  EXPECT_EQ(Encode(encoder, {{"id", "4"}}), FromHex("0f2f 01 34"));
  EXPECT_EQ(Encode(encoder, {{"id", "2"}}), FromHex("be"));
}

TEST(HpackEncoder, WhatCameTooLongAgoCountsAsNew) {
  Encoder encoder;
  Encode(encoder, {{":path", "/a"}});
  for (int i = 0; i < 64; ++i) Encode(encoder, {{":path", "/" + std::to_string(i)}});
  EXPECT_EQ(Encode(encoder, {{":path", "/a"}}), FromHex("04 02 2f61"));
  EXPECT_EQ(Encode(encoder, {{":path", "/a"}}), FromHex("44 02 2f61"));
}

TEST(HpackEncoder, ManyFieldsOfEveryBlockAllEnterTheTable) {
  Encoder encoder;
  Fields fields;
  for (int i = 0; i < 30; ++i) fields.push_back({"x-" + std::to_string(i), std::to_string(i)});
  Encode(encoder, fields);
  Encode(encoder, fields);
  EXPECT_EQ(Encode(encoder, fields).size(), 30u);
}

TEST(HpackEncoder, FieldsAreFoundInWhateverOrderTheyCome) {
  Encoder encoder;
  Fields fields;
  for (int i = 0; i < 30; ++i) fields.push_back({"x-" + std::to_string(i), std::to_string(i)});
  Encode(encoder, fields);
  Encode(encoder, fields);
  std::reverse(fields.begin(), fields.end());
  EXPECT_EQ(Encode(encoder, fields).size(), 30u);
  std::swap(fields[3], fields[17]);
  EXPECT_EQ(Encode(encoder, fields).size(), 30u);
}

TEST(HpackEncoder, FieldsMarkedNeverIndexedStaySoAndAreNotTakenFromATable) {
  Encoder encoder;
  Encode(encoder, {{":path", "/a"}, {":path", "/a"}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Encode(encoder, {{":path", "/a", true}, {":method", "POST", true}}),
              FromHex("14 02 2f61 12 04 504f5354"));
  }
}

TEST(HpackEncoder, WhatAuthenticatesNeverEntersTheTable) {
  Encoder encoder;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Encode(encoder, {{"authorization", "a"},
                               {"proxy-authorization", "b"},
                               {"cookie", "c"},
                               {"set-cookie", "d"}}),
              FromHex("0f08 01 61 0f22 01 62 0f11 01 63 0f28 01 64"));
  }
}

TEST(HpackEncoder, FieldsThatAreLongNeverEnterTheTable) {
  Encoder encoder;
  const Fields longest = {{":path", std::string(1024 - 32 - 5, 'p')}};
  const Fields longer = {{":path", std::string(1024 - 32 - 5 + 1, 'p')}};
  for (int i = 0; i < 2; ++i) Encode(encoder, longest);
  EXPECT_EQ(Encode(encoder, longest).size(), 1u);
  for (int i = 0; i < 2; ++i) Encode(encoder, longer);
  EXPECT_EQ(Encode(encoder, longer).size(), 4 + 988u);
}

TEST(HpackEncoder, FieldsThatFillMostOfASmallTableNeverEnterIt) {
  Encoder encoder;
  encoder.SetMaxTableBytes(100);
  const Fields longest = {{":path", std::string(75 - 32 - 5, 'p')}};
  const Fields longer = {{":path", std::string(75 - 32 - 5 + 1, 'p')}};
  for (int i = 0; i < 2; ++i) Encode(encoder, longest);
  EXPECT_EQ(Encode(encoder, longest).size(), 1u);
  for (int i = 0; i < 2; ++i) Encode(encoder, longer);
  EXPECT_EQ(Encode(encoder, longer).size(), 2 + 39u);
}

TEST(HpackEncoder, TheNextBlockSaysTheSizeOfTheTable) {
  Encoder encoder;
  encoder.SetMaxTableBytes(100);
  EXPECT_EQ(Encode(encoder, {{":method", "GET"}}), FromHex("3f45 82"));
  EXPECT_EQ(Encode(encoder, {{":method", "GET"}}), FromHex("82"));
}

TEST(HpackEncoder, ATableThatWasSmallerForAMomentIsSaidFirst) {
  Encoder encoder;
  encoder.SetMaxTableBytes(100);
  encoder.SetMaxTableBytes(0);
  encoder.SetMaxTableBytes(200);
  EXPECT_EQ(Encode(encoder, {{":method", "GET"}}), FromHex("20 3fa9 01 82"));
  encoder.SetMaxTableBytes(300);
  EXPECT_EQ(Encode(encoder, {{":method", "GET"}}), FromHex("3f8d 02 82"));
}

TEST(HpackEncoder, NoMoreThanTheUsualTableIsUsed) {
  Encoder encoder;
  encoder.SetMaxTableBytes(65536);
  EXPECT_EQ(Encode(encoder, {{":method", "GET"}}), FromHex("82"));
}

TEST(HpackEncoder, WithoutATableEverythingIsALiteralOrStatic) {
  Encoder encoder;
  Encode(encoder, {{"a", "b"}, {"a", "b"}});
  encoder.SetMaxTableBytes(0);
  EXPECT_EQ(Encode(encoder, {{"a", "b"}}), FromHex("20 0001 6101 62"));
  EXPECT_EQ(Encode(encoder, {{"a", "b"}, {"via", ""}}), FromHex("0001 6101 62 bc"));
}

TEST(HpackEncoder, EvictedFieldsEnterAgain) {
  Encoder encoder;
  Encode(encoder, {{":path", "/a"}, {":path", "/a"}});
  for (int i = 0; i < 100; ++i) {
    const Fields other = {{":path", std::string(50, 'x') + std::to_string(i)}};
    Encode(encoder, other);
    Encode(encoder, other);
  }
  EXPECT_EQ(Encode(encoder, {{":path", "/a"}}), FromHex("04 02 2f61"));
  EXPECT_EQ(Encode(encoder, {{":path", "/a"}}), FromHex("44 02 2f61"));
  EXPECT_EQ(Encode(encoder, {{":path", "/a"}}), FromHex("be"));
}

TEST(HpackEncoder, TheSameCallsGiveTheSameBytes) {
  Encoder first;
  Encoder second;
  for (int i = 0; i < 500; ++i) {
    const Fields fields = {{":path", "/" + std::to_string(i * i % 37)},
                           {"x-" + std::to_string(i % 50), "v"}};
    ASSERT_EQ(Encode(first, fields), Encode(second, fields));
  }
}

TEST(HpackEncoder, TheBoundHoldsForTheLongestForms) {
  // Long lengths, an index of two bytes and two updates of the size.
  Metadata fields;
  fields.Add("www-authenticate", std::string(20'000, 'v'), true);
  fields.Add(std::string(3'000'000, 'n'), std::string(20'000, 'v'));
  Encoder encoder;
  encoder.SetMaxTableBytes(0);
  encoder.SetMaxTableBytes(4000);
  Bytes block(Encoder::Bound(fields));
  EXPECT_LE(encoder.Encode(fields, block.data()), block.size());
  EXPECT_EQ(Encoder::Bound({}), 12u);
}

}  // namespace
}  // namespace levee::hpack
