// SPDX-License-Identifier: Apache-2.0
// Which requests the HTTP ports take, and what they say to others.
#include "admin/request_reader.h"

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace levee {
namespace {

using ReadState = RequestReader::State;

ByteSpan Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// The reader after these bytes, which came at once.
std::unique_ptr<RequestReader> After(std::string_view text) {
  auto reader = std::make_unique<RequestReader>();
  reader->Read(Bytes(text));
  return reader;
}

// Status of the refusal; 0 if the bytes are a request.
int Refusal(std::string_view text) {
  RequestReader reader;
  return reader.Read(Bytes(text)) == ReadState::kRefused ? reader.refusal().status : 0;
}

TEST(RequestReader, ARequestHasMethodPathQueryAndHeaders) {
  const auto reader = After("GET /a%20b?c=%20d HTTP/1.1\r\nHost: h\r\nX:  y \r\nEmpty:\r\n\r\n");
  const HttpRequest& request = reader->request();
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/a b");
  EXPECT_EQ(request.query, "c=%20d");
  EXPECT_EQ(request.Header("host"), "h");
  EXPECT_EQ(request.Header("x"), "y");
  EXPECT_EQ(request.Header("empty"), "");
}

TEST(RequestReader, TheBytesMayComeOneByOne) {
  const std::string text = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n";
  RequestReader reader;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    ASSERT_EQ(reader.Read(Bytes(text.substr(i, 1))), ReadState::kMore) << i;
  }
  EXPECT_EQ(reader.Read(Bytes("\n")), ReadState::kComplete);
  EXPECT_EQ(reader.request().path, "/a");
  EXPECT_EQ(reader.request().Header("content-length"), "4");
}

TEST(RequestReader, AllBehindTheHeadIsIgnored) {
  RequestReader reader;
  EXPECT_EQ(reader.Read(Bytes("GET /a HTTP/1.1\r\n\r\n\x16\x03 no HTTP")), ReadState::kComplete);
  EXPECT_EQ(reader.Read(Bytes("GET /b HTTP/1.1\r\n\r\n")), ReadState::kComplete);
  EXPECT_EQ(reader.request().path, "/a");
}

TEST(RequestReader, TheHostOfAUrlTakesThePlaceOfTheHeader) {
  const auto reader = After("GET http://elsewhere.test:80/a?b HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(reader->request().Header("host"), "elsewhere.test:80");
  EXPECT_EQ(reader->request().path, "/a");
  EXPECT_EQ(reader->request().query, "b");
  EXPECT_EQ(After("GET http://h HTTP/1.1\r\n\r\n")->request().path, "/");
}

TEST(RequestReader, AHeadHasABoundAlsoIfItComesInParts) {
  EXPECT_EQ(Refusal("GET /" + std::string(RequestReader::kMaxHeadBytes, 'x')), 414);
  RequestReader reader;
  ASSERT_EQ(reader.Read(Bytes("GET / HTTP/1.1\r\nX: ")), ReadState::kMore);
  ReadState state = ReadState::kMore;
  size_t sent = 0;
  for (; state == ReadState::kMore; sent += 100) state = reader.Read(Bytes(std::string(100, 'x')));
  EXPECT_EQ(reader.refusal().status, 431);
  EXPECT_LE(sent, RequestReader::kMaxHeadBytes + 100);
}

TEST(RequestReader, ManyHeadersAreRefused) {
  std::string head = "GET / HTTP/1.1\r\n";
  for (size_t i = 0; i < RequestReader::kMaxHeaders; ++i) head += "X: y\r\n";
  EXPECT_EQ(Refusal(head + "\r\n"), 0);
  EXPECT_EQ(Refusal(head + "X: y\r\n\r\n"), 431);
}

TEST(RequestReader, ALargeOrChunkedBodyIsRefusedBeforeItComes) {
  EXPECT_EQ(Refusal("POST /a HTTP/1.1\r\nContent-Length: 1024\r\n\r\n"), 0);
  EXPECT_EQ(Refusal("POST /a HTTP/1.1\r\nContent-Length: 1025\r\n\r\n"), 413);
  EXPECT_EQ(Refusal("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 413);
}

TEST(RequestReader, AnythingElseIsNoRequest) {
  for (const char* const text :
       {"nonsense\r\n\r\n", "GET\r\n\r\n", "GET a HTTP/1.1\r\n\r\n", "GET * HTTP/1.1\r\n\r\n",
        "CONNECT h:1 HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "POST /a HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /a HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "POST /a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nbad name: x\r\n\r\n"}) {
    EXPECT_EQ(Refusal(text), 400) << text;
  }
}

}  // namespace
}  // namespace levee
