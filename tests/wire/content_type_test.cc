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

}  // namespace
}  // namespace levee
