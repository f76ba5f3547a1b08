// SPDX-License-Identifier: Apache-2.0
#include "demo/sidecar_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace levee::demo {
namespace {

using ::testing::ElementsAre;

TEST(SidecarOutput, IsCompleteWithAllAddresses) {
  SidecarOutput output;
  output.Add("listening egress 127.0.0.1:4711");
  EXPECT_FALSE(output.complete());
  output.Add("listening metrics 127.0.0.1:4712");
  EXPECT_FALSE(output.complete());
  output.Add("listening admin 127.0.0.1:4713");
  EXPECT_TRUE(output.complete());
  EXPECT_EQ(output.calls, "127.0.0.1:4711");
  EXPECT_EQ(output.metrics, "127.0.0.1:4712");
  EXPECT_EQ(output.page, "127.0.0.1:4713");
}

TEST(SidecarOutput, TakesCallsOnAnInboundListenerToo) {
  SidecarOutput output;
  output.Add("listening ingress 127.0.0.1:4711");
  EXPECT_EQ(output.calls, "127.0.0.1:4711");
}

TEST(SidecarOutput, KeepsTheLastOfAllOtherLines) {
  SidecarOutput output;
  output.Add("a warning");
  EXPECT_THAT(output.rest, ElementsAre("a warning"));
  for (int i = 0; i < 100; ++i) output.Add("more");
  output.Add("the end");
  EXPECT_EQ(output.rest.size(), 50u);
  EXPECT_EQ(output.rest.back(), "the end");
}

}  // namespace
}  // namespace levee::demo
