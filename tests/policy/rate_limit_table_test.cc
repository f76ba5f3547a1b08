// SPDX-License-Identifier: Apache-2.0
// The calls that share a rate limiter, and how long it is kept.
#include "policy/rate_limit_table.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

RateLimitPolicy NamedLimit(const std::string& name) {
  RateLimitPolicy limit;
  limit.name = name;
  return limit;
}

TEST(RateLimitTable, CallsOfOnePolicyShareTheLimiterOfALimit) {
  RateLimitTable table;
  const auto limiter = table.Get("default", NamedLimit("per-tenant"));
  EXPECT_EQ(table.Get("default", NamedLimit("per-tenant")), limiter);
  EXPECT_NE(table.Get("other", NamedLimit("per-tenant")), limiter);
  EXPECT_NE(table.Get("default", NamedLimit("all")), limiter);
}

TEST(RateLimitTable, NamesThatNobodyUsesAreForgotten) {
  RateLimitTable table;
  const auto used = table.Get("default", NamedLimit("used"));
  for (int reload = 0; reload < 100; ++reload) {
    table.Get("default", NamedLimit("limit" + std::to_string(reload)));
  }
  EXPECT_LE(table.size(), 2u);
  EXPECT_EQ(table.Get("default", NamedLimit("used")), used);
}

}  // namespace
}  // namespace levee
