// SPDX-License-Identifier: Apache-2.0
#include "net/http_get.h"

#include <optional>

#include "gtest/gtest.h"

namespace levee::net {
namespace {

TEST(HttpAnswer, HasABodyOnlyIfItIs200) {
  EXPECT_EQ(BodyOf("HTTP/1.1 200 OK\r\nA: b\r\n\r\nline\n\r\n\r\nmore"), "line\n\r\n\r\nmore");
  EXPECT_EQ(BodyOf("HTTP/1.0 200 OK\r\n\r\n"), "");
  EXPECT_EQ(BodyOf("HTTP/1.1 404 Not Found\r\n\r\nbody"), std::nullopt);
  EXPECT_EQ(BodyOf("HTTP/1.1 404  200 \r\n\r\nbody"), std::nullopt);
  EXPECT_EQ(BodyOf("HTTP/1.1 200 OK\r\nA: b\r\n"), std::nullopt);
  EXPECT_EQ(BodyOf(""), std::nullopt);
}

}  // namespace
}  // namespace levee::net
