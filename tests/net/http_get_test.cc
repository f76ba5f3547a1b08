// SPDX-License-Identifier: Apache-2.0
#include "net/http_get.h"

#include <string>

#include "gtest/gtest.h"

namespace levee::net {
namespace {

// The body, or why there is none.
std::string Read(const std::string& answer) {
  const auto body = BodyOf(answer);
  return body.ok() ? *body : std::string(body.status().message());
}

TEST(HttpAnswer, HasABodyOnlyIfItIs200) {
  EXPECT_EQ(Read("HTTP/1.1 200 OK\r\nA: b\r\n\r\nline\n\r\n\r\nmore"), "line\n\r\n\r\nmore");
  EXPECT_EQ(Read("HTTP/1.0 200 OK\r\n\r\n"), "");
  EXPECT_EQ(Read("HTTP/1.1 404 Not Found\r\n\r\nbody"), "HTTP status 404 Not Found");
  EXPECT_EQ(Read("HTTP/1.1 404  200 \r\n\r\nbody"), "HTTP status 404  200 ");
  EXPECT_EQ(Read("HTTP/1.1 200 OK\r\nA: b\r\n"), "the answer is no HTTP");
  EXPECT_EQ(Read("HTTP/1.1 20"), "the answer is no HTTP");
  EXPECT_EQ(Read("SSH-2.0-x 200 \r\n\r\n"), "the answer is no HTTP");
  EXPECT_EQ(Read(""), "the answer is no HTTP");
}

TEST(HttpAnswer, IsNotTakenForWholeWithAnotherLengthThanItPromised) {
  EXPECT_EQ(Read("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nline"), "line");
  EXPECT_EQ(Read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nline"), "the answer is cut short");
}

}  // namespace
}  // namespace levee::net
