// SPDX-License-Identifier: Apache-2.0
// The text of a stored answer, which sidecars share.
#include "dedupe/stored_answer.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace levee {
namespace {

Metadata& Fields(Metadata& fields) {
  fields.Add("content-type", "application/grpc");
  fields.Add("secret", std::string_view("\0\xff", 2), /*never_index=*/true);
  return fields;
}

StoredAnswerPtr WholeAnswer() {
  Metadata head, trailers;
  trailers.Add("grpc-status", "5");
  AnswerWriter writer;
  writer.AddHead(Fields(head));
  writer.AddBody("rec");
  writer.AddBody("eipt");
  return writer.End(StatusCode::kNotFound, trailers);
}

TEST(StoredAnswer, HasAllThatWasWritten) {
  const StoredAnswerPtr answer = StoredAnswer::Read(WholeAnswer()->text());
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->code(), StatusCode::kNotFound);
  EXPECT_TRUE(answer->whole());
  EXPECT_FALSE(answer->trailers_only());
  EXPECT_EQ(answer->body(), "receipt");
  Metadata written, head, trailers;
  answer->AppendHead(head);
  EXPECT_EQ(head.size(), 2U);
  EXPECT_TRUE(head.BeginsWith(Fields(written)));
  answer->AppendTrailers(trailers);
  EXPECT_EQ(trailers.size(), 1U);
  EXPECT_EQ(trailers.Get("grpc-status"), "5");
}

// Sidecars of an older version read it, and wrote it.
TEST(StoredAnswer, HasTheFormThatSidecarsShare) {
  Metadata head, trailers;
  head.Add("a", "bc", /*never_index=*/true);
  trailers.Add("d", "");
  AnswerWriter writer;
  writer.AddHead(head);
  writer.AddBody("xyz");
  const std::string_view text(
      "1\x05\x01"
      "\0\0\0\x01\0\0\0\x01"
      "a\0\0\0\x02"
      "bc\x01\0\0\0\x03"
      "xyz\0\0\0\x01\0\0\0\x01"
      "d\0\0\0\0\0",
      40);
  EXPECT_EQ(writer.End(StatusCode::kNotFound, trailers)->text(), text);
}

TEST(StoredAnswer, WithoutHeadHasTrailersOnly) {
  Metadata trailers;
  AnswerWriter writer;
  const StoredAnswerPtr answer = writer.End(StatusCode::kOk, Fields(trailers));
  EXPECT_TRUE(answer->trailers_only());
  EXPECT_EQ(answer->body(), "");
  Metadata read;
  answer->AppendTrailers(read);
  EXPECT_TRUE(read.BeginsWith(trailers));
}

TEST(StoredAnswer, OfAStatusTakesOneSmallBlock) {
  const StoredAnswerPtr answer = StoredAnswer::OfStatus(StatusCode::kAborted);
  EXPECT_FALSE(answer->whole());
  EXPECT_EQ(answer->code(), StatusCode::kAborted);
  EXPECT_LE(answer->bytes(), BlockBytes(64));
  ASSERT_NE(StoredAnswer::Read(answer->text()), nullptr);
  EXPECT_FALSE(StoredAnswer::Read(answer->text())->whole());
}

TEST(StoredAnswer, IsNotReadFromAnyOtherText) {
  const std::string text(WholeAnswer()->text());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(StoredAnswer::Read(std::string_view(text).substr(0, size)), nullptr) << size;
  }
  EXPECT_EQ(StoredAnswer::Read(text + '\0'), nullptr);
  std::string other = text;
  other[0] = '2';
  EXPECT_EQ(StoredAnswer::Read(other), nullptr) << "of another form";
  other = text;
  other[1] = 17;
  EXPECT_EQ(StoredAnswer::Read(other), nullptr) << "with a status that is none";
}

}  // namespace
}  // namespace levee
