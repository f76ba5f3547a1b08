// SPDX-License-Identifier: Apache-2.0
#include "server/connection_events.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "net/address.h"
#include "server/accepted_connection.h"

namespace levee {
namespace {

uint64_t SenderFrom(const char* ip, uint16_t port, const char* identity = "") {
  ConnectionOrigin origin;
  NamePeer(*net::Address::FromIp(ip, port), identity, /*events=*/false, origin);
  EXPECT_EQ(origin.identity, identity);
  return origin.sender;
}

TEST(NamePeer, ASenderIsANameOrElseAHost) {
  EXPECT_EQ(SenderFrom("10.1.2.3", 1, "web"), SenderFrom("10.1.2.4", 1, "web"));
  EXPECT_NE(SenderFrom("10.1.2.3", 1, "web"), SenderFrom("10.1.2.3", 1, "pay"));
  EXPECT_EQ(SenderFrom("10.1.2.3", 1), SenderFrom("10.1.2.3", 2));
  EXPECT_NE(SenderFrom("10.1.2.3", 1), SenderFrom("10.1.2.4", 1));
  EXPECT_NE(SenderFrom("10.1.2.3", 1), SenderFrom("10.1.2.3", 1, "web"));
  EXPECT_EQ(SenderFrom("2001:db8::1", 1), SenderFrom("2001:db8::2:3", 1)) << "one network";
  EXPECT_NE(SenderFrom("2001:db8::1", 1), SenderFrom("2001:db8:0:1::1", 1));
}

}  // namespace
}  // namespace levee
