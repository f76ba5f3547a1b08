// SPDX-License-Identifier: Apache-2.0
#include "wire/metadata.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

std::string Text(const Metadata& metadata) {
  std::string text;
  for (size_t i = 0; i < metadata.size(); ++i) {
    text.append(metadata[i].name).append("=").append(metadata[i].value).append(" ");
  }
  return text;
}

TEST(Metadata, KeepsTheOrderOfItsFields) {
  Metadata metadata;
  metadata.Add(":path", "/a");
  metadata.Add("x", "1");
  metadata.Add("y", "2");
  metadata.Add("x", "3");
  EXPECT_EQ(Text(metadata), ":path=/a x=1 y=2 x=3 ");
  EXPECT_EQ(metadata.size(), 4u);
  EXPECT_EQ(metadata.Count("x"), 2u);
}

TEST(Metadata, GetFindsTheFirstOfThatExactName) {
  Metadata metadata;
  metadata.Add("ab", "1");
  metadata.Add("abc", "2");
  metadata.Add("abc", "3");
  EXPECT_EQ(metadata.Get("abc"), "2");
  EXPECT_EQ(metadata.Get("ab"), "1");
  EXPECT_EQ(metadata.Get("a").data(), nullptr);
}

TEST(Metadata, AValueLiesDirectlyBehindItsName) {
  Metadata metadata;
  metadata.Add("removed", "1");
  metadata.Add("name", "value");
  metadata.Remove("removed");
  EXPECT_EQ(metadata[0].name.data() + 4, metadata[0].value.data());
}

TEST(Metadata, AddsFieldsOfAnotherListWithWhatTheySayOfIndexing) {
  Metadata other;
  other.Add("a", "1");
  other.Add("b", "22", /*never_index=*/true);
  other.Add("c", "");
  Metadata metadata;
  metadata.Add("x", "0");
  metadata.AddFrom(other, 1, 3);
  metadata.AddFrom(other, 3, 3);
  metadata.AddFrom(other, 0, 1);
  EXPECT_EQ(Text(metadata), "x=0 b=22 c= a=1 ");
  EXPECT_TRUE(metadata[1].never_index);
  EXPECT_FALSE(metadata[3].never_index);
}

TEST(Metadata, ATightCopyHasTheFirstFieldsAndTakesNoMoreMemoryThanTheyNeed) {
  Metadata other;
  other.Add("a", "1", /*never_index=*/true);
  other.Add("b", "22");
  other.Add("c", "3");
  Metadata copy;
  copy.CopyTightly(other, 2);
  EXPECT_EQ(Text(copy), "a=1 b=22 ");
  EXPECT_TRUE(copy[0].never_index);
  EXPECT_EQ(copy.held_bytes(), 5u + 2 * 16);
  Metadata none;
  none.CopyTightly(other, 0);
  EXPECT_EQ(none.held_bytes(), 0u);
}

TEST(Metadata, BeginsWithAListIfItsFirstFieldsAreThoseAndSayTheSameOfIndexing) {
  Metadata metadata;
  metadata.Add("a", "bc");
  metadata.Add("d", "e");
  const auto begins_with = [&](std::string_view name, std::string_view value, bool never_index) {
    Metadata other;
    other.Add(name, value, never_index);
    return metadata.BeginsWith(other);
  };
  EXPECT_TRUE(metadata.BeginsWith(Metadata()));
  EXPECT_TRUE(metadata.BeginsWith(metadata));
  EXPECT_TRUE(begins_with("a", "bc", false));
  EXPECT_FALSE(begins_with("a", "bc", true));
  EXPECT_FALSE(begins_with("ab", "c", false));
  EXPECT_FALSE(begins_with("a", "bx", false));
  EXPECT_FALSE(begins_with("d", "e", false));
  Metadata longer;
  longer.AddFrom(metadata, 0, 2);
  longer.Add("f", "g");
  EXPECT_FALSE(metadata.BeginsWith(longer));
}

TEST(Metadata, AnEmptyValueIsNotAnAbsentOne) {
  Metadata metadata;
  EXPECT_FALSE(metadata.Has("x"));
  metadata.Add("x", "");
  EXPECT_TRUE(metadata.Has("x"));
  EXPECT_EQ(metadata.Get("x"), "");
  EXPECT_NE(metadata.Get("x").data(), nullptr);
}

TEST(Metadata, ValuesAreOpaqueBytes) {
  Metadata metadata;
  const std::string bytes("\0\xff%,\n", 5);
  metadata.Add("k-bin", bytes);
  EXPECT_EQ(metadata.Get("k-bin"), bytes);
}

TEST(Metadata, RemoveTakesEveryFieldOfThatName) {
  Metadata metadata;
  metadata.Add("x", "1");
  metadata.Add("keep", "longer than the others");
  metadata.Add("x", "2");
  metadata.Add("last", "3");
  EXPECT_TRUE(metadata.Remove("x"));
  EXPECT_EQ(Text(metadata), "keep=longer than the others last=3 ");
  EXPECT_FALSE(metadata.Remove("x"));
  EXPECT_EQ(metadata.ListBytes(), 4 + 22 + 4 + 1 + 2 * 32u);
}

TEST(Metadata, SetReplacesAllByOneAtTheEnd) {
  Metadata metadata;
  metadata.Add("x", "1");
  metadata.Add("y", "2");
  metadata.Add("x", "3");
  metadata.Set("x", "new");
  EXPECT_EQ(Text(metadata), "y=2 x=new ");
}

TEST(Metadata, ListBytesCountThirtyTwoPerField) {
  Metadata metadata;
  EXPECT_EQ(metadata.ListBytes(), 0u);
  metadata.Add("name", "value");
  metadata.Add("n", "");
  EXPECT_EQ(metadata.ListBytes(), 10 + 64u);
}

TEST(Metadata, NeverIndexedFieldsStaySo) {
  Metadata metadata;
  metadata.Add("gone", "");
  metadata.Add("authorization", "secret", true);
  metadata.Add("x", "1");
  metadata.Remove("gone");
  EXPECT_TRUE(metadata[0].never_index);
  EXPECT_FALSE(metadata[1].never_index);
}

TEST(Metadata, ClearKeepsTheMemoryForTheNextBlock) {
  Metadata metadata;
  metadata.Add("name", std::string(1000, 'v'));
  const char* before = metadata.Get("name").data();
  metadata.Clear();
  EXPECT_TRUE(metadata.empty());
  EXPECT_EQ(metadata.ListBytes(), 0u);
  metadata.Add("name", "v");
  EXPECT_EQ(metadata.Get("name").data(), before);
}

TEST(Metadata, SwapExchangesTheFields) {
  Metadata a;
  Metadata b;
  a.Add("a", "1");
  b.Add("b", "2");
  b.Add("c", "3");
  a.Swap(b);
  EXPECT_EQ(Text(a), "b=2 c=3 ");
  EXPECT_EQ(Text(b), "a=1 ");
}

TEST(Metadata, ShrinkKeepsTheFields) {
  Metadata metadata;
  for (int i = 0; i < 200; ++i) metadata.Add("name", std::string(100, 'v'));
  for (int i = 0; i < 2; ++i) {
    metadata.Shrink();
    EXPECT_EQ(metadata.size(), 200u);
    EXPECT_EQ(metadata[199].value, std::string(100, 'v'));
  }
  metadata.Clear();
  metadata.Shrink();
  EXPECT_TRUE(metadata.empty());
}

}  // namespace
}  // namespace levee
