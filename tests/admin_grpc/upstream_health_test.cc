// SPDX-License-Identifier: Apache-2.0
// When an upstream counts as serving.
#include "admin_grpc/upstream_health.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::Pair;

class UpstreamHealthTest : public testing::Test {
 protected:
  UpstreamHealthTest() { snapshot_.upstreams = {{.name = "cart"}}; }

  bool Serves(const std::vector<std::string>& states) {
    std::vector<EndpointView> endpoints;
    for (const std::string& state : states) {
      endpoints.push_back({.upstream = "cart", .address = "a", .state = state});
    }
    return health_.Update(snapshot_, endpoints).at("cart");
  }

  Snapshot snapshot_;
  UpstreamHealth health_;
};

TEST_F(UpstreamHealthTest, OneUsableEndpointIsEnough) {
  EXPECT_TRUE(Serves({"failing", "ready", "ejected"}));
  EXPECT_TRUE(Serves({"failing", "idle"}));
}

TEST_F(UpstreamHealthTest, WithoutAUsableEndpointItDoesNotServe) {
  EXPECT_FALSE(Serves({"failing"}));
  EXPECT_FALSE(Serves({"ejected", "failing"}));
}

TEST_F(UpstreamHealthTest, WhatIsNotKnownYetServes) {
  EXPECT_TRUE(Serves({}));
  EXPECT_TRUE(Serves({"connecting"}));
}

TEST_F(UpstreamHealthTest, ConnectingAgainChangesNothing) {
  EXPECT_FALSE(Serves({"failing"}));
  EXPECT_FALSE(Serves({"connecting"}));
  EXPECT_FALSE(Serves({"failing", "connecting"}));
  EXPECT_TRUE(Serves({"ready"}));
  EXPECT_TRUE(Serves({"connecting"}));
}

TEST_F(UpstreamHealthTest, UpstreamsAreJudgedApart) {
  snapshot_.upstreams.push_back({.name = "stock"});
  EXPECT_THAT(health_.Update(snapshot_, {{.upstream = "cart", .address = "a", .state = "failing"},
                                         {.upstream = "stock", .address = "a", .state = "ready"}}),
              ElementsAre(Pair("cart", false), Pair("stock", true)));
}

TEST_F(UpstreamHealthTest, OneThatAReloadTookAwayDoesNotServe) {
  EXPECT_TRUE(Serves({"ready"}));
  snapshot_.upstreams = {{.name = "stock"}};
  EXPECT_THAT(health_.Update(snapshot_, {{.upstream = "cart", .address = "a", .state = "ready"}}),
              ElementsAre(Pair("cart", false), Pair("stock", true)));
}

}  // namespace
}  // namespace levee
