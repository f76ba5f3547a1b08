// SPDX-License-Identifier: Apache-2.0
#include "server/method_kinds.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

constexpr char kWatch[] = "/shop.Feed/Watch";

class MethodKindsTest : public testing::Test {
 protected:
  PlannedKind Plan(const std::string& upstream, std::string_view path) {
    return kinds_.Plan({.name = upstream}, path);
  }
  // A call of the method was a stream.
  bool Learn(const std::string& upstream, std::string_view path) {
    PlannedKind plan = Plan(upstream, path);
    plan.method->Learn(CallKind::kStream);
    return kinds_.List(upstream, path, plan);
  }

  MethodKinds kinds_;
};

TEST_F(MethodKindsTest, WhatOneWorkerHasLearntAllKnow) {
  EXPECT_FALSE(Plan("feed", kWatch).method->known());
  Learn("feed", kWatch);
  EXPECT_TRUE(Plan("feed", kWatch).method->IsStream());
  EXPECT_FALSE(Plan("other", kWatch).method->known());
}

TEST_F(MethodKindsTest, OfTwoWorkersThatLearnAtOnceTheFirstIsListedAndCallsKeepTheirs) {
  PlannedKind one = Plan("feed", kWatch), other = Plan("feed", kWatch);
  const MethodKind* const of_calls = other.method.get();
  one.method->Learn(CallKind::kStream);
  other.method->Learn(CallKind::kUnary);
  EXPECT_TRUE(kinds_.List("feed", kWatch, one));
  EXPECT_TRUE(kinds_.List("feed", kWatch, other));
  EXPECT_EQ(other.method, one.method);
  EXPECT_EQ(other.before.get(), of_calls);
}

TEST_F(MethodKindsTest, AMethodOfWhichNothingIsLearntTakesNoPlace) {
  for (int i = 0; i < 100'000; ++i) {
    const std::string path = absl::StrCat("/made.Up/Method", i);
    PlannedKind plan = Plan("feed", path);
    EXPECT_TRUE(kinds_.List("feed", path, plan));
  }
  EXPECT_TRUE(Learn("feed", kWatch));
}

TEST_F(MethodKindsTest, AnUpstreamThatFillsItsListTakesNoPlaceFromOthers) {
  for (size_t i = 0; i < MethodKinds::kMaxMethods; ++i) {
    EXPECT_TRUE(Learn("any", absl::StrCat("/made.Up/Method", i)));
  }
  EXPECT_FALSE(Learn("any", "/one.Too/Many"));
  EXPECT_FALSE(Plan("any", "/one.Too/Many").method->known());
  EXPECT_TRUE(Learn("feed", kWatch));
}

TEST_F(MethodKindsTest, AMethodWhosePathIsLongIsNotLearnt) {
  const std::string longest(MethodKinds::kMaxPath, 'p');
  EXPECT_TRUE(Learn("any", longest));
  EXPECT_FALSE(Learn("any", longest + "p"));
}

TEST_F(MethodKindsTest, ADescriptorDecides) {
  auto methods = std::make_shared<DescribedMethods>();
  methods->all = {kWatch, "/shop.Feed/Get"};
  methods->streams = {kWatch};
  const UpstreamSpec upstream = {.name = "feed", .methods = methods};
  EXPECT_TRUE(kinds_.Plan(upstream, kWatch).method->IsStream());
  EXPECT_TRUE(kinds_.Plan(upstream, "/shop.Feed/Get").method->IsUnary());
  EXPECT_FALSE(kinds_.Plan(upstream, "/shop.Feed/New").method->known());
}

TEST_F(MethodKindsTest, AReloadKeepsWhatIsKnownOfTheUpstreamsThatStay) {
  Learn("feed", kWatch);
  Learn("gone", kWatch);
  Snapshot snapshot;
  snapshot.upstreams.push_back({.name = "feed"});
  kinds_.Keep(snapshot);
  EXPECT_TRUE(Plan("feed", kWatch).method->IsStream());
  EXPECT_FALSE(Plan("gone", kWatch).method->known());
}

}  // namespace
}  // namespace levee
