// SPDX-License-Identifier: Apache-2.0
#include "base/exposition.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Exposition, HasNamesLabelsAndValues) {
  const std::vector<MetricSample> samples = ReadExposition(
      "# HELP levee_calls_total Calls.\n# TYPE levee_calls_total counter\n"
      "levee_calls_total{upstream=\"cart\",code=\"OK\"} 12\r\n"
      "up 1 1700000000000\n\nlevee_memory_bytes{} 1.5e+06\n");
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].name, "levee_calls_total");
  EXPECT_THAT(samples[0].labels, ElementsAre(Pair("code", "OK"), Pair("upstream", "cart")));
  EXPECT_EQ(samples[0].value, 12);
  EXPECT_EQ(samples[1].value, 1);
  EXPECT_EQ(samples[2].value, 1.5e6);
}

TEST(Exposition, ReadsLabelsAsTheyWereBeforeTheyWereEscaped) {
  const auto samples = ReadExposition("a{x=\"q\\\"},b\\\\c\\nd\", y=\"e\",} 2\n");
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(LabelOf(samples[0].labels, "x"), "q\"},b\\c\nd");
  EXPECT_EQ(LabelOf(samples[0].labels, "y"), "e");
  EXPECT_EQ(LabelOf(samples[0].labels, "z"), "");
}

TEST(Exposition, LeavesOutLinesThatAreNoSeries) {
  EXPECT_TRUE(
      ReadExposition("<html>\na{x=\"1\n{x=\"1\"} 2\na{x=1} 2\na{} b\na\n= 3\na{x 2\n").empty());
}

}  // namespace
}  // namespace levee
