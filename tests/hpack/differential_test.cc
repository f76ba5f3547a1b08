// SPDX-License-Identifier: Apache-2.0
// Random header blocks between Levee's HPACK and another library's.
#include <string>
#include <vector>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hpack/peer.h"
#include "hpack/run.h"

namespace levee::hpack {
namespace {

using ::testing::Optional;

constexpr int kBlocksPerConnection = 50;

// Draws blocks whose fields come again often enough for every way in which a field is sent.
class RandomFields {
 public:
  explicit RandomFields(Random& random) : random_(random) {}

  Fields Draw() {
    Fields fields(random_.Below(12));
    for (NameValue& field : fields) {
      field = {Name(), Value(), random_.Below(16) == 0};
    }
    return fields;
  }

 private:
  std::string Name() {
    static const std::vector<std::string> names = {
        ":method", ":path",        ":status", ":authority", "te",          "content-type",
        "cookie",  "grpc-timeout", "accept",  "user-agent", "x-request-id"};
    const uint64_t drawn = random_.Below(names.size() + 4);
    return drawn < names.size() ? names[drawn] : "x-" + std::to_string(random_.Below(200));
  }

  std::string Value() {
    static const std::vector<std::string> values = {
        "", "POST", "/", "200", "trailers", "application/grpc", "gzip, deflate", "/shop.Cart/Add"};
    const uint64_t drawn = random_.Below(values.size() + 4);
    if (drawn < values.size()) return values[drawn];
    const size_t longest = random_.Below(20) == 0 ? 5000 : 60;
    std::string value(random_.Below(longest), '\0');
    // Text, or any bytes.
    const int bits = random_.Below(2) == 0 ? 6 : 8;
    for (char& c : value) c = static_cast<char>((bits == 6 ? 0x40 : 0) + random_.Below(1u << bits));
    return value;
  }

  Random& random_;
};

// Blocks as gRPC peers send them: mostly one of a few lists again, at times with something else at
// its end.
class RepeatedFields {
 public:
  explicit RepeatedFields(Random& random) : random_(random), draws_(random) {
    for (Fields& list : lists_) list = draws_.Draw();
  }

  Fields Draw() {
    if (random_.Below(30) == 0) return draws_.Draw();
    Fields fields = lists_[random_.Below(lists_.size())];
    if (random_.Below(4) == 0 && !fields.empty()) fields.pop_back();
    if (random_.Below(3) == 0) fields.push_back({"grpc-timeout", std::to_string(random_.Next())});
    return fields;
  }

 private:
  Random& random_;
  RandomFields draws_;
  std::vector<Fields> lists_{6};
};

std::vector<std::pair<std::string, std::string>> WithoutMarks(const Fields& fields) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const NameValue& field : fields) pairs.emplace_back(field.name, field.value);
  return pairs;
}

TEST(HpackDifferential, AnotherLibraryDecodesWhatIsEncoded) {
  Random random(1);
  RandomFields draws(random);
  for (int connection = 0; connection < 2000; ++connection) {
    Encoder encoder;
    PeerDecoder peer;
    for (int block = 0; block < kBlocksPerConnection; ++block) {
      for (uint64_t changes = random.Below(20); changes < 3; ++changes) {
        const size_t bytes = random.Below(6000);
        encoder.SetMaxTableBytes(bytes);
        peer.SetMaxTableBytes(bytes);
      }
      const Fields fields = draws.Draw();
      ASSERT_THAT(peer.Decode(Encode(encoder, fields)), Optional(fields))
          << "connection " << connection << ", block " << block;
    }
  }
}

TEST(HpackDifferential, AnotherLibraryDecodesBlocksThatComeAgain) {
  Random random(3);
  for (int connection = 0; connection < 200; ++connection) {
    RepeatedFields draws(random);
    Encoder encoder;
    PeerDecoder peer;
    for (int block = 0; block < 4 * kBlocksPerConnection; ++block) {
      if (random.Below(50) == 0) {
        const size_t bytes = random.Below(6000);
        encoder.SetMaxTableBytes(bytes);
        peer.SetMaxTableBytes(bytes);
      }
      const Fields fields = draws.Draw();
      ASSERT_THAT(peer.Decode(Encode(encoder, fields)), Optional(fields))
          << "connection " << connection << ", block " << block;
    }
  }
}

TEST(HpackDifferential, WhatAnotherLibraryEncodesIsDecoded) {
  Random random(2);
  RandomFields draws(random);
  for (int connection = 0; connection < 2000; ++connection) {
    PeerEncoder peer;
    Decoder decoder;
    for (int block = 0; block < kBlocksPerConnection; ++block) {
      for (uint64_t changes = random.Below(20); changes < 3; ++changes) {
        peer.SetMaxTableBytes(random.Below(6000));
      }
      const Fields fields = draws.Draw();
      const std::optional<Fields> decoded = Decode(decoder, peer.Encode(fields));
      ASSERT_TRUE(decoded.has_value()) << "connection " << connection << ", block " << block;
      // The peer marks some fields "never indexed" by itself.
      ASSERT_EQ(WithoutMarks(*decoded), WithoutMarks(fields));
    }
  }
}

}  // namespace
}  // namespace levee::hpack
