// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <gtest/gtest.h>
#include <ifaddrs.h>

namespace levee::net {
namespace {

TEST(Address, IsWrittenAsHostAndPort) {
  EXPECT_EQ(Address::FromIp("127.0.0.1", 80)->ToString(), "127.0.0.1:80");
  EXPECT_EQ(Address::FromIp("::1", 443)->ToString(), "[::1]:443");
  EXPECT_FALSE(Address::FromIp("localhost", 80).has_value());
}

TEST(Address, AHostIsTheSameOnAnyOfItsPortsAndInItsNetworkOfIpv6) {
  const auto host = [](const char* ip, uint16_t port = 1) {
    return Address::FromIp(ip, port)->HostBytes();
  };
  EXPECT_EQ(host("10.1.2.3", 1), host("10.1.2.3", 2));
  EXPECT_EQ(host("10.1.2.3"), host("::ffff:10.1.2.3"));
  EXPECT_NE(host("10.1.2.3"), host("10.1.2.4"));
  EXPECT_NE(host("::ffff:10.1.2.3"), host("::ffff:10.1.2.4"));
  EXPECT_EQ(host("2001:db8:1:2::3"), host("2001:db8:1:2:4:5:6:7"));
  EXPECT_NE(host("2001:db8:1:2::3"), host("2001:db8:1:3::3"));
  EXPECT_EQ(Address::FromUnixPath("/run/levee.sock")->HostBytes(), "");
}

TEST(Address, H2_ReachesAListenerHoweverTheHostIsWritten) {
  const Address loopback = *Address::FromIp("127.0.0.1", 9460);
  const Address wildcard = *Address::FromIp("0.0.0.0", 9460);
  const Address wildcard6 = *Address::FromIp("::", 9460);
  for (const char* const host : {"::ffff:127.0.0.1", "::ffff:0.0.0.0", "0.0.0.0", "127.0.0.1"}) {
    const Address to = *Address::FromIp(host, 9460);
    EXPECT_TRUE(to.Reaches(loopback)) << host;
    EXPECT_TRUE(to.Reaches(wildcard)) << host;
    EXPECT_TRUE(to.Reaches(wildcard6)) << host;
  }
  EXPECT_TRUE(loopback.Reaches(*Address::FromIp("::ffff:127.0.0.1", 9460)));
  EXPECT_FALSE(Address::FromIp("::ffff:10.1.2.3", 9460)->Reaches(loopback));
}

TEST(Address, H2_EveryAddressOfTheHostReachesAWildcardListener) {
  ifaddrs* all = nullptr;
  ASSERT_EQ(getifaddrs(&all), 0);
  int seen = 0;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    Address to(one->ifa_addr, sizeof(sockaddr_in));
    to.set_port(9460);
    EXPECT_TRUE(to.Reaches(*Address::FromIp("0.0.0.0", 9460))) << to.ToString();
    ++seen;
  }
  freeifaddrs(all);
  EXPECT_GE(seen, 1);
  // An address of the range for documentation (RFC 5737).
  EXPECT_FALSE(Address::FromIp("192.0.2.1", 9460)->Reaches(*Address::FromIp("0.0.0.0", 9460)));
}

TEST(Address, ReachesAListenerOfTheSamePortAndHost) {
  const Address loopback = *Address::FromIp("127.0.0.1", 9460);
  EXPECT_TRUE(loopback.Reaches(*Address::FromIp("127.0.0.1", 9460)));
  EXPECT_TRUE(loopback.Reaches(*Address::FromIp("0.0.0.0", 9460)));
  EXPECT_FALSE(loopback.Reaches(*Address::FromIp("127.0.0.1", 9461)));
  EXPECT_FALSE(loopback.Reaches(*Address::FromIp("10.0.0.1", 9460)));
  EXPECT_FALSE(Address::FromIp("10.0.0.2", 9460)->Reaches(*Address::FromIp("0.0.0.0", 9460)));
}

TEST(Address, MayBeAPath) {
  const Address address = *Address::FromUnixPath("/run/levee.sock");
  EXPECT_TRUE(address.is_unix());
  EXPECT_EQ(address.ToString(), "unix:/run/levee.sock");
  EXPECT_EQ(address.port(), 0);
  EXPECT_TRUE(address.Reaches(*Address::FromUnixPath("/run/levee.sock")));
  EXPECT_FALSE(address.Reaches(*Address::FromUnixPath("/run/other.sock")));
  EXPECT_FALSE(address.Reaches(*Address::FromIp("127.0.0.1", 0)));
  EXPECT_TRUE(Address::FromUnixPath(std::string(107, 'p')).has_value());
  EXPECT_FALSE(Address::FromUnixPath(std::string(108, 'p')).has_value());
  EXPECT_FALSE(Address::FromUnixPath("").has_value());
}

}  // namespace
}  // namespace levee::net
