// SPDX-License-Identifier: Apache-2.0
#include "config/addresses.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(Addresses, ListenAddresses) {
  EXPECT_EQ(ParseListenAddress("0.0.0.0:0").value().host, "0.0.0.0");
  EXPECT_EQ(ParseListenAddress("[::]:65535").value().host, "::");
  EXPECT_EQ(ParseListenAddress("[::]:65535").value().port, 65535);
  EXPECT_EQ(ParseListenAddress("localhost:1").value().host, "127.0.0.1");
  EXPECT_TRUE(ParseListenAddress("localhost:1").value().ipv6_loopback);
  EXPECT_FALSE(ParseListenAddress("127.0.0.1:1").value().ipv6_loopback);
  for (const char* text : {"",
                           ":",
                           "9460",
                           ":9460",
                           "127.0.0.1",
                           "127.0.0.1:",
                           "127.0.0.1:65536",
                           "127.0.0.1:-1",
                           "127.0.0.1:+1",
                           "127.0.0.1: 1",
                           "127.0.0.256:1",
                           "127.1:1",
                           "010.0.0.1:1",
                           "::1:9460",
                           "[::1]",
                           "[127.0.0.1]:1",
                           "[::1:1",
                           "[]:1",
                           "host:1",
                           "*:1",
                           "127.0.0.1 :1",
                           "none"}) {
    EXPECT_FALSE(ParseListenAddress(text).ok()) << text;
  }
}

TEST(Addresses, Endpoints) {
  EXPECT_EQ(ParseEndpoint("authority:").value().kind, EndpointSpec::Kind::kAuthority);
  EXPECT_EQ(ParseEndpoint("original:").value().kind, EndpointSpec::Kind::kOriginal);
  EXPECT_EQ(ParseEndpoint("[::1]:1").value().host, "::1");
  EXPECT_EQ(ParseEndpoint("10.0.0.1:0").status().message(),
            "\"10.0.0.1:0\" has port 0; give the port that the upstream listens on");
  EXPECT_EQ(
      ParseEndpoint("authority:80").status().message(),
      "\"authority:80\" has text after \"authority:\"; the call's :authority gives the address");
  EXPECT_EQ(
      ParseEndpoint("original:80").status().message(),
      "\"original:80\" has text after \"original:\"; the redirected connection gives the address");
  EXPECT_EQ(ParseEndpoint("::1:80").status().message(),
            "\"::1:80\" has several colons; write an IPv6 address in brackets, as in "
            "[::1]:50051");
  EXPECT_EQ(
      ParseEndpoint("http://cart.shop:80").status().message(),
      "\"http://cart.shop:80\" is a URL, and not HOST:PORT; leave out what stands in front of the "
      "host");
}

TEST(Addresses, NamesAreLookedUp) {
  const EndpointSpec cart = ParseEndpoint("dns:cart-headless.shop:50051").value();
  EXPECT_EQ(cart.kind, EndpointSpec::Kind::kAddress);
  EXPECT_EQ(cart.host, "cart-headless.shop");
  EXPECT_EQ(cart.port, 50051);
  EXPECT_EQ(ParseEndpoint("dns:10.0.0.1:1").value().host, "10.0.0.1");
  EXPECT_EQ(ParseEndpoint("dns:[::1]:1").value().host, "::1");
  const std::vector<std::string> names = {"a",          "A.b",       "_grpc.cart",        "x1.2y",
                                          "cart.shop.", "localhost", std::string(63, 'a')};
  for (const std::string& name : names) {
    EXPECT_EQ(ParseEndpoint("dns:" + name + ":1").value().host, name);
  }
  const std::vector<std::string> no_names = {"-a",  "a-", "a..b",       ".a",  "a b",
                                             "a/b", "*",  "10.0.0.256", "1.2", "caf\xc3\xa9",
                                             "",    ".",  "dns:a"};
  for (const std::string& name : no_names) {
    EXPECT_FALSE(ParseEndpoint("dns:" + name + ":1").ok()) << name;
  }
  EXPECT_FALSE(ParseEndpoint("dns:" + std::string(64, 'a') + ":1").ok());
  EXPECT_FALSE(ParseEndpoint("dns:a").ok());
  EXPECT_EQ(ParseEndpoint("cart:1").status().message(),
            "\"cart:1\" has no IP address; say dns:cart:1 to look the name up");
  EXPECT_EQ(ParseEndpoint("dns:a_b.c!:1").status().message(),
            "\"dns:a_b.c!:1\" has no IP address and no host name");
}

TEST(Addresses, UnixEndpoints) {
  const EndpointSpec cart = ParseEndpoint("unix:/run/cart.sock").value();
  EXPECT_EQ(cart.kind, EndpointSpec::Kind::kUnix);
  EXPECT_EQ(cart.path, "/run/cart.sock");
  EXPECT_TRUE(ParseEndpoint("unix:/" + std::string(106, 'p')).ok());
  EXPECT_FALSE(ParseEndpoint("unix:/" + std::string(107, 'p')).ok());
  EXPECT_FALSE(ParseEndpoint("unix:cart.sock").ok());
  EXPECT_FALSE(ParseEndpoint("unix:").ok());
}

TEST(Addresses, Ipv6Forms) {
  for (const char* host : {"::", "::1", "1::", "fd00::7", "1:2:3:4:5:6:7:8", "::ffff:10.0.0.1",
                           "1:2:3:4:5:6:10.0.0.1", "1:2:3:4:5:6:7::", "ABCD::ef01"}) {
    EXPECT_EQ(ParseEndpoint("[" + std::string(host) + "]:1").value().host, host);
  }
  for (const char* host : {"", ":", "1", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
                           "1:2:3:4:5:6:7:8::", "12345::", "g::", "10.0.0.1::", "::10.0.0.256",
                           "1:2:3:4:5:6:7:10.0.0.1", "fe80::1%eth0", "1:", ":1", "::1:"}) {
    EXPECT_FALSE(ParseEndpoint("[" + std::string(host) + "]:1").ok()) << host;
  }
}

}  // namespace
}  // namespace levee
