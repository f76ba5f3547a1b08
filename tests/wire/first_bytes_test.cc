// SPDX-License-Identifier: Apache-2.0
#include "wire/first_bytes.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(FirstBytes, APrefaceIsHttp2OnceItIsWhole) {
  for (size_t size = 0; size < kHttp2Preface.size(); ++size) {
    EXPECT_EQ(ClassifyFirstBytes(kHttp2Preface.substr(0, size)), FirstBytes::kMore) << size;
  }
  EXPECT_EQ(ClassifyFirstBytes(kHttp2Preface), FirstBytes::kHttp2);
  EXPECT_EQ(ClassifyFirstBytes(std::string(kHttp2Preface) + "more"), FirstBytes::kHttp2);
}

TEST(FirstBytes, ConnectIsToldByItsMethod) {
  EXPECT_EQ(ClassifyFirstBytes("CONN"), FirstBytes::kMore);
  EXPECT_EQ(ClassifyFirstBytes("CONNECT "), FirstBytes::kConnect);
  EXPECT_EQ(ClassifyFirstBytes("CONNECTED"), FirstBytes::kOther);
}

TEST(FirstBytes, AnythingElseIsOther) {
  EXPECT_EQ(ClassifyFirstBytes("GET / HTTP/1.1"), FirstBytes::kOther);
  EXPECT_EQ(ClassifyFirstBytes("PRI * HTTP/2.1"), FirstBytes::kOther);
  EXPECT_EQ(ClassifyFirstBytes("\x16\x03\x01"), FirstBytes::kOther);
}

TEST(ConnectRequest, NamesTheDestination) {
  const std::string head = "CONNECT cart.shop:50051 HTTP/1.1\r\nHost: cart.shop:50051\r\n\r\n";
  const ConnectRequest request = ParseConnectRequest(head + "PRI");
  EXPECT_EQ(request.state, ConnectRequest::State::kGood);
  EXPECT_EQ(request.destination, "cart.shop:50051");
  EXPECT_EQ(request.size, head.size());
}

TEST(ConnectRequest, MayBeOfHttp10AndWithoutFields) {
  EXPECT_EQ(ParseConnectRequest("CONNECT [::1]:7 HTTP/1.0\r\n\r\n").destination, "[::1]:7");
}

TEST(ConnectRequest, IsReadOnceItsHeadIsWhole) {
  EXPECT_EQ(ParseConnectRequest("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n").state,
            ConnectRequest::State::kMore);
}

TEST(ConnectRequest, AHeadThatDoesNotEndIsBad) {
  const std::string endless = "CONNECT a:1 HTTP/1.1\r\nX: " + std::string(9000, 'x');
  EXPECT_EQ(ParseConnectRequest(endless).state, ConnectRequest::State::kBad);
}

TEST(ConnectRequest, ADestinationThatIsNotHostAndPortIsBad) {
  for (const char* head : {"CONNECT cart HTTP/1.1\r\n\r\n", "CONNECT cart:0 HTTP/1.1\r\n\r\n",
                           "CONNECT cart:65536 HTTP/1.1\r\n\r\n", "CONNECT :1 HTTP/1.1\r\n\r\n",
                           "CONNECT http://a:1/ HTTP/1.1\r\n\r\n", "CONNECT a:1 HTTP/2.0\r\n\r\n",
                           "CONNECT a:1\r\n\r\n", "CONNECT a:b:80 HTTP/1.1\r\n\r\n",
                           "CONNECT ::1:80 HTTP/1.1\r\n\r\n", "CONNECT []:80 HTTP/1.1\r\n\r\n",
                           "CONNECT  HTTP/1.1\r\n\r\n", "CONNECT a\x01:1 HTTP/1.1\r\n\r\n"}) {
    EXPECT_EQ(ParseConnectRequest(head).state, ConnectRequest::State::kBad) << head;
  }
}

TEST(FirstBytes, AHandshakeOfTlsIsKnownByItsRecord) {
  EXPECT_TRUE(BeginsTls("\x16\x03\x01\x02"));
  EXPECT_FALSE(BeginsTls("\x16"));
  EXPECT_FALSE(BeginsTls("\x17\x03\x03"));
  EXPECT_FALSE(BeginsTls("GET / HTTP/1.1"));
}

}  // namespace
}  // namespace levee
