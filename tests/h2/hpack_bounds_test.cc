// SPDX-License-Identifier: Apache-2.0
// The price of a header block is linear in its bytes, whatever it refers to.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>
#include <string_view>
#include <vector>

#include "h2/header_rules.h"
#include "h2/raw_peer.h"

namespace levee::h2_test {
namespace {

using h2::BlockKind;
using h2::HeaderRules;
using h2::SessionLimit;
using Limits = std::vector<SessionLimit>;

// Text that cannot be read: whoever looks at a byte of it ends the test.
class Unreadable {
 public:
  Unreadable() : page_(mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Unreadable() { munmap(page_, kBytes); }
  Unreadable(const Unreadable&) = delete;
  Unreadable& operator=(const Unreadable&) = delete;

  static constexpr size_t kBytes = 4096;
  std::string_view text() const { return {static_cast<const char*>(page_), kBytes}; }

 private:
  void* const page_;
};

hpack::DecodedField ContentLength(std::string_view value) {
  return {.name = "content-length", .value = value, .kind = hpack::FieldKind::kContentLength};
}

constexpr size_t kDropped = 100'000;

struct Judged {
  Judged() { rules.Begin(BlockKind::kTrailers, &fields); }
  Metadata fields;
  HeaderRules rules{10, 1000, kDropped};
};

TEST(HpackBounds, H1_AContentLengthOfTooManyDigitsIsNotRead) {
  const Unreadable digits;
  Judged judged;
  EXPECT_TRUE(judged.rules.OnField(ContentLength(digits.text())));
  EXPECT_STREQ(judged.rules.Fault(), "content-length is no number, or there are two");
}

TEST(HpackBounds, H1_AContentLengthOfNineteenDigitsIsANumber) {
  Judged judged;
  judged.rules.OnField(ContentLength("9223372036854775807"));
  EXPECT_EQ(judged.rules.Fault(), nullptr);
  EXPECT_EQ(judged.rules.content_length(), INT64_MAX);
  judged.rules.Begin(BlockKind::kTrailers, &judged.fields);
  judged.rules.OnField(ContentLength("9223372036854775808"));
  EXPECT_NE(judged.rules.Fault(), nullptr);
}

// Behind a fault, and behind a bound.
class RestOfABlock : public testing::TestWithParam<bool> {};

TEST_P(RestOfABlock, H1_IsNotReadAndItsSizeIsBounded) {
  const Unreadable text;
  Judged judged;
  if (GetParam()) {
    judged.rules.OnField(ContentLength("x"));
  } else {
    for (int i = 0; i <= 10; ++i) judged.rules.OnField({.name = "x-small", .value = "1"});
  }
  const size_t kept = judged.fields.size();
  size_t told = 0;
  while (told < kDropped && judged.rules.OnField({.name = text.text(), .value = text.text()}))
    ++told;
  EXPECT_EQ(told, kDropped / (2 * Unreadable::kBytes + 32));
  EXPECT_TRUE(judged.rules.too_long());
  EXPECT_EQ(judged.fields.size(), kept);
}

INSTANTIATE_TEST_SUITE_P(HpackBounds, RestOfABlock, testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "BehindAFault" : "BehindABound");
});

// A literal that the decoder keeps; the newest one has the index 62.
std::string Kept(const std::string& name, const std::string& value) {
  std::string literal = Encode({{name, value}});
  literal[0] = '\x40';
  return literal;
}
constexpr char kNewest = '\xbe';

constexpr uint8_t kWhole = kEndHeaders | kEndStream;

struct BoundedPeer : RawPeer {
  // `header_block_bytes` is such that the fields of a block may have 64,000 bytes.
  BoundedPeer()
      : RawPeer(Session::Role::kServer, {.metadata_bytes = 2000, .header_block_bytes = 4000}) {}
  bool WriteBlock(int32_t stream, const std::string& block) {
    return Write(FrameType::kHeaders, kWhole, stream, block);
  }
};

TEST(HpackBounds, H1_ReferencesWhoseFieldsAreLargeEndTheConnection) {
  BoundedPeer peer;
  const std::string large = Kept("x", std::string(3000, 'x'));
  EXPECT_TRUE(peer.WriteBlock(1, Encode(RequestHead()) + large + std::string(19, kNewest)));
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kMetadataBytes});
  EXPECT_FALSE(peer.WriteBlock(3, Encode(RequestHead()) + std::string(1000, kNewest)));
  EXPECT_EQ(peer.side.limits.back(), SessionLimit::kHeaderBlock);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kEnhanceYourCalm}));
}

// Such a block belongs to a stream that this side has ended.
TEST(HpackBounds, H1_SoTheyDoInABlockThatNobodyWants) {
  BoundedPeer peer;
  EXPECT_TRUE(peer.WriteBlock(
      1, Encode(RequestHead()) + Kept("x", std::string(1000, 'x')) + std::string("\x82", 1)));
  EXPECT_TRUE(peer.IsReset(1, {H2Error::kProtocol}));
  EXPECT_FALSE(peer.WriteBlock(1, std::string(1000, kNewest)));
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kHeaderBlock});
}

TEST(HpackBounds, H1_TheTableIsKeptWhereNothingIsJudgedAnyMore) {
  const std::string faults[] = {Encode({{"Upper", "x"}}),                        // malformed
                                Encode({{"x-large", std::string(3000, 'x')}})};  // above a bound
  for (const std::string& fault : faults) {
    BoundedPeer peer;
    EXPECT_TRUE(peer.WriteBlock(1, Encode(RequestHead()) + fault + Kept("x-kept", "yes")));
    peer.Read();
    EXPECT_TRUE(peer.WriteBlock(3, Encode(RequestHead()) + kNewest));
    EXPECT_NE(peer.Heard(peer.side.requests.size() - 1).find("x-kept=yes"), std::string::npos);
  }
}

}  // namespace
}  // namespace levee::h2_test
