// SPDX-License-Identifier: Apache-2.0
// The judgement of the names and values of fields, which the entries of the tables keep.
#include "hpack/table.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "hpack/run.h"

namespace levee::hpack {
namespace {

std::vector<bool> WellFormed(const std::vector<JudgedField>& fields) {
  std::vector<bool> well_formed;
  for (const JudgedField& field : fields) well_formed.push_back(field.well_formed);
  return well_formed;
}

// A literal without indexing, of a name and a value of less than 127 bytes.
Bytes Literal(std::string_view name, std::string_view value) {
  Bytes block = {0x00, static_cast<uint8_t>(name.size())};
  block.insert(block.end(), name.begin(), name.end());
  block.push_back(static_cast<uint8_t>(value.size()));
  block.insert(block.end(), value.begin(), value.end());
  return block;
}

bool IsWellFormed(std::string_view name, std::string_view value) {
  Decoder decoder;
  return Judge(decoder, Literal(name, value)).at(0).well_formed;
}

TEST(HpackTable, NamesOfOtherBytesThanThoseOfALowerCaseTokenAreNotWellFormed) {
  EXPECT_TRUE(IsWellFormed("grpc-status", ""));
  EXPECT_TRUE(IsWellFormed("!#$%&'*+-.^_`|~09az", ""));
  EXPECT_TRUE(IsWellFormed(":path", ""));
  EXPECT_FALSE(IsWellFormed("", ""));
  EXPECT_FALSE(IsWellFormed(":", ""));
  EXPECT_FALSE(IsWellFormed("::path", ""));
  EXPECT_FALSE(IsWellFormed("a:b", ""));
  for (const char c : std::string_view(" \"(),/;<=>?@AZ[\\]{}\x7f\x80\xff\0\t", 24)) {
    EXPECT_FALSE(IsWellFormed(std::string("a") + c + "b", "")) << static_cast<int>(c);
  }
}

TEST(HpackTable, ValuesMayHaveAnyByteButNulAndLineEnds) {
  for (size_t at = 0; at < 20; ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string value(20, 'x');
      value[at] = static_cast<char>(byte);
      ASSERT_EQ(IsWellFormed("a", value), byte != 0 && byte != '\n' && byte != '\r')
          << at << ": " << byte;
    }
  }
}

TEST(HpackTable, EntriesKeepWhetherTheyAreWellFormed) {
  Decoder decoder;
  // A good field; one with a bad value, whose name is then used with a good one; one with a bad
  // name, likewise.
  EXPECT_EQ(WellFormed(Judge(decoder, FromHex("400161 0162 be"
                                              "400161 010a be 7e0162 be"
                                              "400141 0162 be 7e0163 be"))),
            (std::vector<bool>{true, true, false, false, true, true, false, false, false, false}));
}

TEST(HpackTable, KindsOfNamesAreFoundInEachWayToSendThem) {
  const auto kind = [](std::string_view name) {
    Decoder decoder;
    Bytes block = Literal(name, "");
    block[0] = 0x40;
    block.push_back(0xbe);
    const std::vector<JudgedField> fields = Judge(decoder, block);
    EXPECT_EQ(fields.at(0).kind, fields.at(1).kind);
    return fields.at(0).kind;
  };
  EXPECT_EQ(kind(":method"), FieldKind::kMethod);
  EXPECT_EQ(kind(":scheme"), FieldKind::kScheme);
  EXPECT_EQ(kind(":authority"), FieldKind::kAuthority);
  EXPECT_EQ(kind(":path"), FieldKind::kPath);
  EXPECT_EQ(kind(":status"), FieldKind::kStatus);
  EXPECT_EQ(kind(":protocol"), FieldKind::kUnknownPseudo);
  EXPECT_EQ(kind(":"), FieldKind::kUnknownPseudo);
  EXPECT_EQ(kind("content-length"), FieldKind::kContentLength);
  EXPECT_EQ(kind("te"), FieldKind::kTe);
  for (const std::string_view name :
       {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}) {
    EXPECT_EQ(kind(name), FieldKind::kConnectionSpecific) << name;
  }
  EXPECT_EQ(kind("grpc-status"), FieldKind::kOther);
  EXPECT_EQ(kind(""), FieldKind::kOther);
}

TEST(HpackTable, KindsOfStaticEntriesAreThoseOfTheirNames) {
  Decoder decoder;
  for (uint8_t index = 1; index <= 61; ++index) {
    const JudgedField field = Judge(decoder, Bytes{static_cast<uint8_t>(0x80 | index)}).at(0);
    EXPECT_EQ(field.kind, KindOfName(field.name)) << field.name;
    EXPECT_TRUE(field.well_formed);
  }
}

}  // namespace
}  // namespace levee::hpack
