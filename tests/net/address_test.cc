// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <gtest/gtest.h>

namespace levee::net {
namespace {

TEST(Address, IsWrittenAsHostAndPort) {
  EXPECT_EQ(Address::FromIp("127.0.0.1", 80)->ToString(), "127.0.0.1:80");
  EXPECT_EQ(Address::FromIp("::1", 443)->ToString(), "[::1]:443");
  EXPECT_FALSE(Address::FromIp("localhost", 80).has_value());
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
