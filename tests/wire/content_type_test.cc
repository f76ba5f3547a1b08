// SPDX-License-Identifier: Apache-2.0
#include "wire/content_type.h"

#include <gtest/gtest.h>

namespace levee {
namespace {

TEST(ContentType, IsGrpcWithSuffixOrParameters) {
  for (const char* type : {"application/grpc", "application/grpc+json", "application/grpc;x=y"}) {
    EXPECT_TRUE(IsGrpcContentType(type)) << type;
  }
  for (const char* type : {"", "application/grpc-web", "application/grpcx", "text/plain"}) {
    EXPECT_FALSE(IsGrpcContentType(type)) << type;
  }
}

TEST(ContentType, H21_OfAnAnswerIsThatOfTheRequestWithoutParameters) {
  EXPECT_EQ(AnswerContentType("application/grpc"), "application/grpc");
  EXPECT_EQ(AnswerContentType("application/grpc+json"), "application/grpc+json");
  EXPECT_EQ(AnswerContentType("application/grpc+proto; charset=utf-8"), "application/grpc+proto");
  EXPECT_EQ(AnswerContentType("application/grpc;x=y"), "application/grpc");
  for (const char* none : {"", "text/html", "application/grpc-web"}) {
    EXPECT_EQ(AnswerContentType(none), "application/grpc") << none;
  }
}

}  // namespace
}  // namespace levee
