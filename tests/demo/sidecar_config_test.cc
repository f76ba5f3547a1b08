// SPDX-License-Identifier: Apache-2.0
#include "demo/sidecar_config.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace levee::demo {
namespace {

TEST(SidecarConfig, OfBothDemosIsValid) {
  for (const auto& config : {CallersConfig("127.0.0.1:50051"), GuardConfig("127.0.0.1:50051")}) {
    const auto snapshot = ParseConfig("demo.yaml", config);
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    ASSERT_EQ((*snapshot)->upstreams.size(), 1u);
    EXPECT_EQ((*snapshot)->upstreams[0].name, "shop");
  }
}

}  // namespace
}  // namespace levee::demo
