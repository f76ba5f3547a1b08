// SPDX-License-Identifier: Apache-2.0
#include "base/host_port.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(SplitHostPort, NeedsAHostAndAPort) {
  EXPECT_EQ(SplitHostPort("cart.shop:50051")->host, "cart.shop");
  EXPECT_EQ(SplitHostPort("cart.shop:50051")->port, 50051);
  EXPECT_EQ(SplitHostPort("[::1]:7")->host, "::1");
  for (const char* text : {"", "cart", "cart:", ":7", "cart:0", "cart:65536", "cart:x", "::1:7",
                           "[]:7", "a:b:7", "http://a:1", "a b:1", "a\x01:1"}) {
    EXPECT_FALSE(SplitHostPort(text).has_value()) << text;
  }
}

TEST(SplitHostPort, NoNameIsLongerThan255Bytes) {
  const std::string longest(255, 'a');
  EXPECT_EQ(SplitHostPort(longest + ":65535")->host, longest);
  EXPECT_FALSE(SplitHostPort(longest + "a:1").has_value());
}

}  // namespace
}  // namespace levee
