// SPDX-License-Identifier: Apache-2.0
// RFC 7541 (HPACK): representations that a session reads, and what ends its connection.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "h2/raw_peer.h"

namespace levee::h2_test {
namespace {

using namespace std::string_literals;

// ":method: POST", ":scheme: http" and ":path: /" from the static table, and a literal :authority.
constexpr std::string_view kRequest = "\x83\x86\x84\x01\x01x";
constexpr std::string_view kHeardRequest = "only :method=POST :scheme=http :path=/ :authority=x";

void WriteBlock(RawPeer& peer, int32_t stream, std::string_view block) {
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream, stream, block);
}

// A request that ends with `fields` is heard with `expected` at its end, and a second one, that
// has nothing but the first entry of the dynamic table, with `indexed`; if it is nullptr the table
// must be empty.
testing::AssertionResult Decodes(const std::string& fields, std::string_view expected,
                                 const char* indexed = nullptr) {
  RawPeer peer;
  WriteBlock(peer, 1, std::string(kRequest) + fields);
  if (peer.Heard() != std::string(kHeardRequest) + " " + std::string(expected)) {
    return testing::AssertionFailure() << "heard " << peer.Heard();
  }
  WriteBlock(peer, 3, std::string(kRequest) + "\xbe");
  if (indexed == nullptr) return peer.ConnectionEnds({H2Error::kCompression});
  if (peer.Heard(1) != std::string(kHeardRequest) + " " + indexed) {
    return testing::AssertionFailure() << "then heard " << peer.Heard(1);
  }
  return peer.Lives();
}

testing::AssertionResult IsCompressionError(const std::string& block) {
  RawPeer peer;
  WriteBlock(peer, 1, block);
  if (!peer.side.requests.empty()) return testing::AssertionFailure() << "heard " << peer.Heard();
  return peer.ConnectionEnds({H2Error::kCompression});
}

testing::AssertionResult EndsARequestInError(const std::string& fields) {
  return IsCompressionError(std::string(kRequest) + fields);
}

// Strings of appendix C.4, Huffman-coded and with their lengths.
const std::string kNoCache = "\x86\xa8\xeb\x10\x64\x9c\xbf";
const std::string kCustomKey = "\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f";
const std::string kCustomValue = "\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf";

TEST(Rfc7541, C1_6_1_AnIndexedFieldOfTheStaticTableIsDecoded) {
  EXPECT_TRUE(Decodes("\x90", "accept-encoding=gzip, deflate"));
}

TEST(Rfc7541, C1_6_2_1_AnIndexedNameWithIndexing) {
  EXPECT_TRUE(Decodes("\x7a\x08test-ua1", "user-agent=test-ua1", "user-agent=test-ua1"));
}

TEST(Rfc7541, C1_6_2_1_AnIndexedNameWithIndexingAndHuffman) {
  EXPECT_TRUE(Decodes("\x58" + kNoCache, "cache-control=no-cache", "cache-control=no-cache"));
}

TEST(Rfc7541, C1_6_2_1_ANewNameWithIndexing) {
  EXPECT_TRUE(Decodes("\x40\x06x-test\x01v", "x-test=v", "x-test=v"));
}

TEST(Rfc7541, C1_6_2_1_ANewNameWithIndexingAndHuffman) {
  EXPECT_TRUE(Decodes("\x40" + kCustomKey + kCustomValue, "custom-key=custom-value",
                      "custom-key=custom-value"));
}

TEST(Rfc7541, C1_6_2_2_AnIndexedNameWithoutIndexing) {
  EXPECT_TRUE(Decodes("\x0f\x2b\x08test-ua1", "user-agent=test-ua1"));
}

TEST(Rfc7541, C1_6_2_2_AnIndexedNameWithoutIndexingWithHuffman) {
  EXPECT_TRUE(Decodes("\x0f\x09" + kNoCache, "cache-control=no-cache"));
}

TEST(Rfc7541, C1_6_2_2_ANewNameWithoutIndexing) {
  EXPECT_TRUE(Decodes("\0\x06x-test\x01v"s, "x-test=v"));
}

TEST(Rfc7541, C1_6_2_2_ANewNameWithoutIndexingWithHuffman) {
  EXPECT_TRUE(Decodes("\0"s + kCustomKey + kCustomValue, "custom-key=custom-value"));
}

TEST(Rfc7541, C1_6_2_3_AnIndexedNameNeverIndexed) {
  EXPECT_TRUE(Decodes("\x1f\x2b\x08test-ua1", "user-agent=test-ua1"));
}

TEST(Rfc7541, C1_6_2_3_AnIndexedNameNeverIndexedWithHuffman) {
  EXPECT_TRUE(Decodes("\x1f\x09" + kNoCache, "cache-control=no-cache"));
}

TEST(Rfc7541, C1_6_2_3_ANewNameNeverIndexed) {
  EXPECT_TRUE(Decodes("\x10\x06x-test\x01v", "x-test=v"));
}

TEST(Rfc7541, C1_6_2_3_ANewNameNeverIndexedWithHuffman) {
  EXPECT_TRUE(Decodes("\x10" + kCustomKey + kCustomValue, "custom-key=custom-value"));
}

TEST(Rfc7541, C1_6_3_ASizeUpdateBeforeTheFieldsIsAccepted) {
  RawPeer peer;
  WriteBlock(peer, 1, "\x30" + std::string(kRequest));  // 16
  EXPECT_EQ(peer.Heard(), kHeardRequest);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc7541, C1_6_3_SeveralSizeUpdatesBeforeTheFieldsAreAccepted) {
  RawPeer peer;
  WriteBlock(peer, 1, "\x20\x3f\xe1\x1f" + std::string(kRequest));  // 0, then 4096
  EXPECT_EQ(peer.Heard(), kHeardRequest);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc7541, C1_6_3_ASizeUpdateTo0EmptiesTheTable) {
  RawPeer peer;
  WriteBlock(peer, 1, std::string(kRequest) + "\x40\x06x-test\x01v");
  WriteBlock(peer, 3, "\x20\x3f\xe1\x1f" + std::string(kRequest));
  EXPECT_TRUE(peer.Lives());
  WriteBlock(peer, 5, std::string(kRequest) + "\xbe");
  EXPECT_EQ(peer.side.requests.size(), 3u);
}

TEST(Rfc7541, C1_6_3_ASizeUpdateOverTheSettingIsACompressionError) {
  EXPECT_TRUE(IsCompressionError("\x3f\xe2\x1f" + std::string(kRequest)));  // 4097
}

TEST(Rfc7541, C1_4_2_ASizeUpdateAfterAFieldIsACompressionError) {
  EXPECT_TRUE(EndsARequestInError("\x20"));
}

TEST(Rfc7541, C1_2_3_3_AnIndexOfNoEntryIsACompressionError) {
  EXPECT_TRUE(EndsARequestInError("\xbe"));      // the dynamic table, which is empty
  EXPECT_TRUE(EndsARequestInError("\xff\x07"));  // far beyond it
}

TEST(Rfc7541, C1_2_3_3_ANameOfNoEntryIsACompressionError) {
  EXPECT_TRUE(EndsARequestInError("\x7e\x01v"));      // with indexing
  EXPECT_TRUE(EndsARequestInError("\x0f\x2f\x01v"));  // without
}

TEST(Rfc7541, C1_6_1_Index0IsACompressionError) { EXPECT_TRUE(EndsARequestInError("\x80")); }

// "a" is 00011.
TEST(Rfc7541, C1_5_2_HuffmanPaddingOfOnesUpTo7BitsIsAccepted) {
  EXPECT_TRUE(Decodes("\0\x01x\x81\x1f"s, "x=a"));
}

TEST(Rfc7541, C1_5_2_HuffmanPaddingOfMoreThan7BitsIsACompressionError) {
  EXPECT_TRUE(EndsARequestInError("\0\x01x\x82\x1f\xff"s));
}

TEST(Rfc7541, C1_5_2_HuffmanPaddingOfZerosIsACompressionError) {
  EXPECT_TRUE(EndsARequestInError("\0\x01x\x81\x18"s));
}

TEST(Rfc7541, C1_5_2_AStringWithTheEosSymbolIsACompressionError) {
  EXPECT_TRUE(EndsARequestInError("\0\x01x\x84\xff\xff\xff\xff"s));
  EXPECT_TRUE(EndsARequestInError("\0\x01x\x85\x1f\xff\xff\xff\xff"s));
}

TEST(Rfc7541, C1_5_1_AnIntegerThatNeverEndsIsACompressionError) {
  EXPECT_TRUE(EndsARequestInError("\x7f" + std::string(20, '\xff') + "\x01v"));
  EXPECT_TRUE(EndsARequestInError("\x7f" + std::string(20, '\x80') + "\x01v"));
}

TEST(Rfc7541, C1_5_2_AStringLongerThanItsBlockIsACompressionError) {
  EXPECT_TRUE(EndsARequestInError("\0\x01x\x7f\x80\x01v"s));
}

// Answers the i-th of equal requests; the decoded block of the head.
HeaderList AnswerHead(RawPeer& peer, int i, std::string* block = nullptr) {
  WriteBlock(peer, 2 * i + 1, kRequest);
  peer.Answer(static_cast<size_t>(i));
  const auto blocks = Of(peer.Read(), FrameType::kHeaders, 2 * i + 1);
  if (blocks.size() != 2) return {};
  if (block != nullptr) *block = blocks[0].payload;
  HeaderList head = peer.Decode(blocks[0]);
  EXPECT_EQ(peer.Decode(blocks[1]), HeaderList({{"grpc-status", "0"}}));
  return head;
}

TEST(Rfc7541, C1_4_2_APeerWithoutTableGetsBlocksThatUseNone) {
  RawPeer peer;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(AnswerHead(peer, i), ResponseHead());
  peer.WriteSetting(SettingId::kHeaderTableSize, 0);
  peer.SetTableBytes(0);
  for (int i = 3; i < 6; ++i) EXPECT_EQ(AnswerHead(peer, i), ResponseHead());
}

TEST(Rfc7541, C1_4_2_ATableThatWasTakenAndGivenBackIsEmptiedFirst) {
  RawPeer peer;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(AnswerHead(peer, i), ResponseHead());
  peer.WriteSetting(SettingId::kHeaderTableSize, 0);
  peer.WriteSetting(SettingId::kHeaderTableSize, 4096);
  peer.SetTableBytes(0);
  peer.SetTableBytes(4096);
  std::string block;
  EXPECT_EQ(AnswerHead(peer, 3, &block), ResponseHead());
  EXPECT_TRUE(block.starts_with("\x20\x3f\xe1\x1f"));  // 0, then 4096
  EXPECT_EQ(AnswerHead(peer, 4), ResponseHead());
}

// A literal, whose name `name` is with all before it, that enters the dynamic table, with a value
// of 4000 octets.
std::string LargeEntry(std::string_view name, char octet) {
  return std::string(name) + "\x7f\xa1\x1e" + std::string(4000, octet);  // 127 + 3873
}

TEST(Rfc7541, C1_4_4_AnEntryMayTakeItsNameFromTheOneItPushesOut) {
  RawPeer peer;
  WriteBlock(peer, 1, std::string(kRequest) + LargeEntry("\x40\x01n", 'a'));
  WriteBlock(peer, 3, std::string(kRequest) + LargeEntry("\x7e", 'b'));
  WriteBlock(peer, 5, std::string(kRequest) + "\xbe");
  const std::string heard = std::string(kHeardRequest) + " n=";
  EXPECT_EQ(peer.Heard(0), heard + std::string(4000, 'a'));
  EXPECT_EQ(peer.Heard(1), heard + std::string(4000, 'b'));
  EXPECT_EQ(peer.Heard(2), heard + std::string(4000, 'b'));
}

TEST(Rfc7541, C1_4_4_AnEntryLargerThanTheTableEmptiesIt) {
  RawPeer peer;
  WriteBlock(peer, 1, std::string(kRequest) + "\x40\x06x-test\x01v");
  const std::string name(100, 'n');  // With it the entry has 4132 octets.
  WriteBlock(peer, 3, std::string(kRequest) + LargeEntry("\x40\x64" + name, 'a'));
  EXPECT_EQ(peer.Heard(1), std::string(kHeardRequest) + " " + name + "=" + std::string(4000, 'a'));
  WriteBlock(peer, 5, std::string(kRequest) + "\xbe");
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kCompression}));
}

TEST(Rfc7541, C1_4_AHeadThatIsCutStillFillsTheTable) {
  Session::Options options;
  options.metadata_bytes = 400;
  RawPeer peer(Session::Role::kServer, options);
  WriteBlock(peer, 1, std::string(kRequest) + LargeEntry("\x40\x01n", 'a'));
  WriteBlock(peer, 3, std::string(kRequest) + "\x40\x06x-test\x01v");
  WriteBlock(peer, 5, std::string(kRequest) + "\xbe");
  EXPECT_TRUE(peer.Heard(0).ends_with(" (cut)")) << peer.Heard(0);
  EXPECT_EQ(peer.Heard(2), std::string(kHeardRequest) + " x-test=v");
}

TEST(Rfc7541, C1_3_2_BlocksOfAnotherImplementationAreDecodedOneAfterTheOther) {
  RawPeer peer;
  FieldEncoder encoder;
  for (int i = 0; i < 20; ++i) {
    HeaderList head = RequestHead();
    head.emplace_back("x-same", "always this");
    head.emplace_back("x-id", "call " + std::to_string(i));
    // Now and then large enough to push all else out of the table.
    if (i % 5 == 4) head.emplace_back("x-large", std::string(3900, 'x'));
    WriteBlock(peer, 2 * i + 1, encoder.Encode(head));
    std::string expected = "only";
    for (const auto& [name, value] : head) expected += " " + name + "=" + value;
    EXPECT_EQ(peer.Heard(static_cast<size_t>(i)), expected);
  }
}

}  // namespace
}  // namespace levee::h2_test
