// SPDX-License-Identifier: Apache-2.0
// Header blocks into fields: the examples of RFC 7541, and what is no block.
#include "hpack/decoder.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hpack/run.h"

namespace levee::hpack {
namespace {

using ::testing::Optional;

std::optional<Fields> DecodeHex(Decoder& decoder, std::string_view block) {
  return Decode(decoder, FromHex(block));
}

std::optional<Fields> DecodeHex(std::string_view block) {
  Decoder decoder;
  return DecodeHex(decoder, block);
}

TEST(HpackDecoder, LiteralWithIndexing) {  // C.2.1
  EXPECT_THAT(DecodeHex("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"),
              Optional(Fields{{"custom-key", "custom-header"}}));
}

TEST(HpackDecoder, LiteralWithoutIndexing) {  // C.2.2
  Decoder decoder;
  EXPECT_THAT(DecodeHex(decoder, "040c 2f73 616d 706c 652f 7061 7468"),
              Optional(Fields{{":path", "/sample/path"}}));
  EXPECT_EQ(DecodeHex(decoder, "be"), std::nullopt);
}

TEST(HpackDecoder, LiteralNeverIndexedSaysSo) {  // C.2.3
  Decoder decoder;
  EXPECT_THAT(DecodeHex(decoder, "1008 7061 7373 776f 7264 0673 6563 7265 74"),
              Optional(Fields{{"password", "secret", true}}));
  EXPECT_EQ(DecodeHex(decoder, "be"), std::nullopt);
}

TEST(HpackDecoder, IndexedField) {  // C.2.4
  EXPECT_THAT(DecodeHex("82"), Optional(Fields{{":method", "GET"}}));
}

// The three requests of appendices C.3 and C.4.
void ExpectRequests(std::vector<std::string_view> blocks) {
  Decoder decoder;
  EXPECT_THAT(DecodeHex(decoder, blocks[0]), Optional(Fields{{":method", "GET"},
                                                             {":scheme", "http"},
                                                             {":path", "/"},
                                                             {":authority", "www.example.com"}}));
  EXPECT_THAT(DecodeHex(decoder, blocks[1]), Optional(Fields{{":method", "GET"},
                                                             {":scheme", "http"},
                                                             {":path", "/"},
                                                             {":authority", "www.example.com"},
                                                             {"cache-control", "no-cache"}}));
  EXPECT_THAT(DecodeHex(decoder, blocks[2]), Optional(Fields{{":method", "GET"},
                                                             {":scheme", "https"},
                                                             {":path", "/index.html"},
                                                             {":authority", "www.example.com"},
                                                             {"custom-key", "custom-value"}}));
}

TEST(HpackDecoder, RequestsWithoutHuffmanCoding) {  // C.3
  ExpectRequests({"8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                  "8286 84be 5808 6e6f 2d63 6163 6865",
                  "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65"});
}

TEST(HpackDecoder, RequestsWithHuffmanCoding) {  // C.4
  ExpectRequests({"8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", "8286 84be 5886 a8eb 1064 9cbf",
                  "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"});
}

// The three responses of appendices C.5 and C.6, whose table of 256 bytes evicts.
void ExpectResponses(std::vector<std::string_view> blocks) {
  Decoder decoder(256);
  EXPECT_THAT(DecodeHex(decoder, blocks[0]),
              Optional(Fields{{":status", "302"},
                              {"cache-control", "private"},
                              {"date", "Mon, 21 Oct 2013 20:13:21 GMT"},
                              {"location", "https://www.example.com"}}));
  EXPECT_THAT(DecodeHex(decoder, blocks[1]),
              Optional(Fields{{":status", "307"},
                              {"cache-control", "private"},
                              {"date", "Mon, 21 Oct 2013 20:13:21 GMT"},
                              {"location", "https://www.example.com"}}));
  EXPECT_THAT(
      DecodeHex(decoder, blocks[2]),
      Optional(Fields{{":status", "200"},
                      {"cache-control", "private"},
                      {"date", "Mon, 21 Oct 2013 20:13:22 GMT"},
                      {"location", "https://www.example.com"},
                      {"content-encoding", "gzip"},
                      {"set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"}}));
}

TEST(HpackDecoder, ResponsesWithoutHuffmanCoding) {  // C.5
  ExpectResponses(
      {"4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a"
       "3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
       "4803 3330 37c1 c0bf",
       "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04"
       "677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49"
       "553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31"});
}

TEST(HpackDecoder, ResponsesWithHuffmanCoding) {  // C.6
  ExpectResponses(
      {"4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e"
       "919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
       "4883 640e ffc1 c0bf",
       "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7"
       "821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed"
       "4ee5 b106 3d50 07"});
}

TEST(HpackDecoder, IndicesOutsideOfTheTablesAreErrors) {
  EXPECT_EQ(DecodeHex("80"), std::nullopt);
  EXPECT_EQ(DecodeHex("be"), std::nullopt);       // 62: the dynamic table is empty
  EXPECT_EQ(DecodeHex("ff00"), std::nullopt);     // 127
  EXPECT_EQ(DecodeHex("7e 0161"), std::nullopt);  // the name of 62
  Decoder decoder;
  EXPECT_TRUE(DecodeHex(decoder, "400161 0162 be").has_value());
  EXPECT_EQ(DecodeHex(decoder, "bf"), std::nullopt);
}

TEST(HpackDecoder, IndicesReachTheLastEntryOfEachTable) {
  Decoder decoder;
  EXPECT_THAT(DecodeHex(decoder, "bd"), Optional(Fields{{"www-authenticate", ""}}));
  for (int i = 0; i < 100; ++i) DecodeHex(decoder, "400161 0162");
  EXPECT_THAT(DecodeHex(decoder, "400163 0164 ff23"), Optional(Fields{{"c", "d"}, {"a", "b"}}));
}

TEST(HpackDecoder, IntegersThatAreCutOffAreErrors) {
  EXPECT_EQ(DecodeHex("ff"), std::nullopt);
  EXPECT_EQ(DecodeHex("ff80"), std::nullopt);
  EXPECT_EQ(DecodeHex("0f"), std::nullopt);
  EXPECT_EQ(DecodeHex("3f"), std::nullopt);
}

TEST(HpackDecoder, IntegersMayHaveZerosInFrontButNotForEver) {
  EXPECT_TRUE(DecodeHex("0f80 8080 8000 00").has_value());    // 15, in five bytes more than one
  EXPECT_EQ(DecodeHex("0f80 8080 8080 0000"), std::nullopt);  // in six
}

TEST(HpackDecoder, IntegersBeyond32BitsAreErrors) {
  EXPECT_EQ(DecodeHex("ff80 ffff ff0f"), std::nullopt);  // 2^32 - 1: no such index
  EXPECT_EQ(DecodeHex("ffff ffff ff7f"), std::nullopt);
  EXPECT_EQ(DecodeHex("00 7fff ffff ffff ffff ff7f"), std::nullopt);
}

TEST(HpackDecoder, StringsThatAreCutOffAreErrors) {
  EXPECT_EQ(DecodeHex("00"), std::nullopt);
  EXPECT_EQ(DecodeHex("00 02 61"), std::nullopt);
  EXPECT_EQ(DecodeHex("00 01 61"), std::nullopt);
  EXPECT_EQ(DecodeHex("00 01 61 02 62"), std::nullopt);
  EXPECT_EQ(DecodeHex("00 01 61 82 ff"), std::nullopt);
  EXPECT_EQ(DecodeHex("04 7f80 8004 62"), std::nullopt);
}

TEST(HpackDecoder, AStringThatIsNoHuffmanCodeIsAnError) {
  EXPECT_EQ(DecodeHex("04 84 ffff fffc"), std::nullopt);  // end of string
  EXPECT_EQ(DecodeHex("04 82 1fff"), std::nullopt);       // more than seven bits of padding
  EXPECT_EQ(DecodeHex("04 81 18"), std::nullopt);         // padding of zeros
  EXPECT_EQ(DecodeHex("00 84 ffff fffc 00"), std::nullopt);
}

TEST(HpackDecoder, EmptyStringsAreNoErrors) {
  EXPECT_THAT(DecodeHex("0000 00"), Optional(Fields{{"", ""}}));
  EXPECT_THAT(DecodeHex("0080 80"), Optional(Fields{{"", ""}}));
  EXPECT_THAT(DecodeHex(""), Optional(Fields{}));
}

TEST(HpackDecoder, FieldsBeforeAnErrorAreTold) {
  Decoder decoder;
  class Last final : public FieldSink {
   public:
    bool OnField(const DecodedField& field) override {
      value = field.value;
      return true;
    }
    std::string value;
  } sink;
  EXPECT_FALSE(decoder.Decode(FromHex("83 80"), sink));
  EXPECT_EQ(sink.value, "POST");
}

TEST(HpackDecoder, ASizeUpdateEvictsWhatDoesNotFit) {
  Decoder decoder;
  DecodeHex(decoder, "400161 0162 400163 0164");
  EXPECT_THAT(DecodeHex(decoder, "3f03 be"), Optional(Fields{{"c", "d"}}));  // 34
  EXPECT_EQ(DecodeHex(decoder, "bf"), std::nullopt);
}

TEST(HpackDecoder, ASizeUpdateToZeroAndBackEmptiesTheTable) {
  Decoder decoder;
  DecodeHex(decoder, "400161 0162");
  EXPECT_THAT(DecodeHex(decoder, "20 3fe1 1f 82"), Optional(Fields{{":method", "GET"}}));
  EXPECT_EQ(DecodeHex(decoder, "be"), std::nullopt);
  EXPECT_TRUE(DecodeHex(decoder, "400161 0162 be").has_value());
}

TEST(HpackDecoder, ASizeUpdateAboveTheLimitIsAnError) {
  EXPECT_TRUE(DecodeHex("3fe1 1f").has_value());  // 4096
  EXPECT_EQ(DecodeHex("3fe2 1f"), std::nullopt);  // 4097
  Decoder small(100);
  EXPECT_TRUE(DecodeHex(small, "3f45").has_value());  // 100
  EXPECT_EQ(DecodeHex(small, "3f46"), std::nullopt);
}

TEST(HpackDecoder, ASizeUpdateBehindAFieldIsAnError) {
  EXPECT_EQ(DecodeHex("82 20"), std::nullopt);
  EXPECT_EQ(DecodeHex("0000 00 3fe1 1f"), std::nullopt);
}

TEST(HpackDecoder, TwoSizeUpdatesAreAllowedAndThreeAreNot) {
  EXPECT_TRUE(DecodeHex("20 3fe1 1f").has_value());
  EXPECT_EQ(DecodeHex("20 21 3fe1 1f"), std::nullopt);
}

TEST(HpackDecoder, AFieldLargerThanTheTableEmptiesItAndIsTold) {
  Decoder decoder(64);
  DecodeHex(decoder, "400161 0162");
  EXPECT_THAT(DecodeHex(decoder, "4001 6120" + std::string(64, '6')),
              Optional(Fields{{"a", std::string(32, 'f')}}));
  EXPECT_EQ(DecodeHex(decoder, "be"), std::nullopt);
}

TEST(HpackDecoder, ANameMayBeThatOfAnEntryWhichTheInsertionEvicts) {
  Decoder decoder(64);
  // Each entry has room only without the one before it, whose name it takes.
  std::string block = "4008 6162 6364 6566 6768 0161";
  Fields expected = {{"abcdefgh", "a"}};
  for (int i = 0; i < 200; ++i) {
    const size_t size = static_cast<size_t>(i) % 24;
    const char length[] = {"0123456789abcdef"[size / 16], "0123456789abcdef"[size % 16], '\0'};
    block += "7e" + std::string(length);
    for (size_t byte = 0; byte < size; ++byte) block += "78";
    expected.push_back({"abcdefgh", std::string(size, 'x')});
  }
  EXPECT_THAT(DecodeHex(decoder, block), Optional(expected));
}

TEST(HpackDecoder, EntriesStayWhatTheyWereWhileTheTableGoesRound) {
  Decoder decoder;
  std::vector<NameValue> model;  // the newest first
  for (size_t i = 0; i < 3000; ++i) {
    const NameValue field = {"n" + std::to_string(i % 10), std::string(i * 7 % 120, 'v')};
    Bytes block = {0x40, static_cast<uint8_t>(field.name.size())};
    block.insert(block.end(), field.name.begin(), field.name.end());
    block.push_back(static_cast<uint8_t>(field.value.size()));
    block.insert(block.end(), field.value.begin(), field.value.end());
    model.insert(model.begin(), field);
    size_t bytes = 0;
    size_t fitting = 0;
    for (; fitting < model.size(); ++fitting) {
      bytes += 32 + model[fitting].name.size() + model[fitting].value.size();
      if (bytes > 4096) break;
    }
    model.resize(fitting);
    const size_t oldest = 61 + model.size();
    const Bytes last = oldest < 127 ? Bytes{static_cast<uint8_t>(0x80 | oldest)}
                                    : Bytes{0xff, static_cast<uint8_t>(oldest - 127)};
    block.insert(block.end(), last.begin(), last.end());
    ASSERT_THAT(Decode(decoder, block), Optional(Fields{field, model.back()})) << i;
  }
}

}  // namespace
}  // namespace levee::hpack
