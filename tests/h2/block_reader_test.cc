// SPDX-License-Identifier: Apache-2.0
// A reader remembers what blocks meant; beside it, each block is decoded anew.
#include "h2/block_reader.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "h2/header_rules.h"
#include "hpack/decoder.h"

namespace levee::h2 {
namespace {

using BlockBytes = std::vector<uint8_t>;

constexpr size_t kMaxFields = 6;
constexpr size_t kMaxBytes = 600;
constexpr size_t kMaxDropped = 4000;

// Representations of RFC 7541, section 6. All lengths and indices are below 15.
BlockBytes Indexed(uint8_t index) { return {static_cast<uint8_t>(0x80 | index)}; }
BlockBytes Literal(uint8_t kind, std::string_view name, std::string_view value) {
  BlockBytes bytes{kind, static_cast<uint8_t>(name.size())};
  bytes.insert(bytes.end(), name.begin(), name.end());
  bytes.push_back(static_cast<uint8_t>(value.size()));
  bytes.insert(bytes.end(), value.begin(), value.end());
  return bytes;
}
constexpr uint8_t kIncremental = 0x40;
constexpr uint8_t kNeverIndexed = 0x10;
constexpr uint8_t kWithoutIndexing = 0x00;
constexpr uint8_t kFirstDynamic = 62;

BlockBytes Joined(std::initializer_list<BlockBytes> parts) {
  BlockBytes all;
  for (const BlockBytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::string MarkedText(const Metadata& fields) {
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    text.append(fields[i].name).append("=").append(fields[i].value);
    text.append(fields[i].never_index ? "! " : " ");
  }
  return text;
}

// What a block meant, in words; "error" if it cannot be decoded.
std::string Told(bool decoded, const HeaderRules& rules, const Metadata& fields) {
  if (!decoded) return rules.too_long() ? "too long" : "error";
  const char* fault = rules.Fault();
  return MarkedText(fields) + (fault == nullptr ? "" : fault) + " " +
         std::to_string(rules.content_length()) + " " + std::to_string(rules.status()) + " " +
         std::to_string(static_cast<int>(rules.excess()));
}

std::string Read(BlockReader& reader, const BlockBytes& block,
                 BlockKind kind = BlockKind::kRequest) {
  Metadata fields;
  const bool decoded = reader.Read(block, kind, &fields);
  return Told(decoded, reader.rules(), fields);
}

BlockReader NewReader() { return {kMaxFields, kMaxBytes, kMaxDropped}; }

// :method POST, :scheme http, :path /, :authority x
BlockBytes RequestBeginning() {
  return Joined({Indexed(3), Indexed(6), Indexed(4), {0x01, 1, 'x'}});
}
constexpr char kRequestText[] = ":method=POST :scheme=http :path=/ :authority=x ";

TEST(BlockReader, ReadsABlockThatComesAgainAsTheFirstTime) {
  BlockReader reader = NewReader();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(Read(reader, RequestBeginning()), std::string(kRequestText) + " -1 0 0");
  }
}

TEST(BlockReader, ReadsWhatFollowsABeginningThatIsKnown) {
  BlockReader reader = NewReader();
  for (int i = 0; i < 100; ++i) {
    const std::string timeout = std::to_string(1000 + i) + "m";
    const BlockBytes block =
        Joined({RequestBeginning(), Literal(kWithoutIndexing, "grpc-timeout", timeout)});
    ASSERT_EQ(Read(reader, block), kRequestText + ("grpc-timeout=" + timeout) + "  -1 0 0");
  }
}

TEST(BlockReader, JudgesABlockByItsWholeAlthoughItsBeginningIsKnown) {
  BlockReader reader = NewReader();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Read(reader, RequestBeginning()).back(), '0');
  EXPECT_EQ(Read(reader, Joined({RequestBeginning(), Indexed(3)})),
            std::string(kRequestText) + "a pseudo-header twice -1 0 0");
}

TEST(BlockReader, TheSameBytesMeanOtherFieldsOnceTheTableHasChanged) {
  BlockReader reader = NewReader();
  const BlockBytes reference = Joined({RequestBeginning(), Indexed(kFirstDynamic)});
  for (const std::string name : {"a", "b", "c"}) {
    ASSERT_EQ(Read(reader, Joined({RequestBeginning(), Literal(kIncremental, name, "1")})),
              kRequestText + name + "=1  -1 0 0");
    for (int i = 0; i < 50; ++i) {
      ASSERT_EQ(Read(reader, reference), kRequestText + name + "=1  -1 0 0");
    }
  }
}

TEST(BlockReader, NoFieldMayComeBeforeAChangeOfTheTablesSizeAlsoIfItIsKnown) {
  BlockReader reader = NewReader();
  for (int i = 0; i < 50; ++i) Read(reader, RequestBeginning());
  EXPECT_EQ(Read(reader, Joined({RequestBeginning(), {0x20}})), "error");
}

// Draws blocks that begin alike: references, literals of every kind, changes of the table's size,
// malformed fields and truncated ones.
class RandomBlocks {
 public:
  explicit RandomBlocks(Random& random) : random_(random) {
    for (BlockBytes& beginning : beginnings_) beginning = Some(8);
  }

  BlockBytes Draw() {
    BlockBytes block =
        random_.Below(20) == 0 ? BlockBytes{0x3f, 0xe1, 0x1f} : BlockBytes();  // 4096 bytes
    const BlockBytes& beginning = beginnings_[random_.Below(beginnings_.size())];
    block.insert(block.end(), beginning.begin(), beginning.end());
    if (random_.Below(2) == 0) block = Joined({block, Some(3)});
    if (random_.Below(200) == 0) block.resize(random_.Below(block.size() + 1));
    return block;
  }

 private:
  BlockBytes Some(uint64_t most) {
    BlockBytes block;
    for (uint64_t left = random_.Below(most + 1); left > 0; --left) {
      block = Joined({block, Field()});
    }
    return block;
  }

  BlockBytes Field() {
    static const std::vector<std::string> names = {"te",    "x-a",   "content-length", "host",
                                                   ":path", "X-Bad", "grpc-timeout",   ":status"};
    static const std::vector<std::string> values = {"trailers", "1", "/a", "200", "b\nc", ""};
    const std::string& name = names[random_.Below(names.size())];
    const std::string& value = values[random_.Below(values.size())];
    switch (random_.Below(12)) {
      case 0:
        return Literal(kNeverIndexed, name, value);
      case 1:
        return Literal(kIncremental, name, value);
      case 2:
      case 3:
        return Literal(kWithoutIndexing, name, value);
      case 4:
        return Indexed(static_cast<uint8_t>(kFirstDynamic + random_.Below(3)));
      default:
        return Indexed(static_cast<uint8_t>(1 + random_.Below(14)));
    }
  }

  Random& random_;
  std::vector<BlockBytes> beginnings_{5};
};

TEST(BlockReader, TellsTheSameAsADecoderThatRemembersNothing) {
  Random random(1);
  int read = 0;
  for (int connection = 0; connection < 3000; ++connection) {
    RandomBlocks blocks(random);
    BlockReader reader = NewReader();
    hpack::Decoder decoder;
    HeaderRules rules(kMaxFields, kMaxBytes, kMaxDropped);
    for (int i = 0; i < 100; ++i) {
      const BlockBytes block = blocks.Draw();
      const auto kind = static_cast<BlockKind>(random.Below(4));
      Metadata fields;
      rules.Begin(kind, kind == BlockKind::kIgnored ? nullptr : &fields);
      const bool decoded = decoder.Decode(block, rules);
      ASSERT_EQ(Read(reader, block, kind), Told(decoded, rules, fields))
          << "connection " << connection << ", block " << i;
      if (!decoded) break;
      ++read;
    }
  }
  EXPECT_GT(read, 30'000) << "most connections end early";
}

}  // namespace
}  // namespace levee::h2
