// SPDX-License-Identifier: Apache-2.0
#include "wire/http_status_set.h"

#include <limits>

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(HttpStatusSet, HoldsNothingAtFirst) {
  const HttpStatusSet set;
  EXPECT_TRUE(set.empty());
  for (int status = 0; status < 1000; ++status) EXPECT_FALSE(set.Has(status)) << status;
}

TEST(HttpStatusSet, HoldsWhatWasAddedAndNothingElse) {
  HttpStatusSet set;
  set.Add(408);
  set.Add(429);
  EXPECT_FALSE(set.empty());
  for (int status = 0; status < 1000; ++status) {
    EXPECT_EQ(set.Has(status), status == 408 || status == 429) << status;
  }
}

TEST(HttpStatusSet, AClassIsItsHundred) {
  HttpStatusSet set;
  set.AddClass(5);
  for (int status = 0; status < 1000; ++status) {
    EXPECT_EQ(set.Has(status), status >= 500 && status <= 599) << status;
  }
}

TEST(HttpStatusSet, TheFirstAndTheLastStatusFit) {
  HttpStatusSet set;
  set.Add(100);
  set.Add(599);
  EXPECT_TRUE(set.Has(100));
  EXPECT_TRUE(set.Has(599));
}

TEST(HttpStatusSet, OtherNumbersAreInNoSet) {
  HttpStatusSet set;
  for (int status :
       {std::numeric_limits<int>::min(), -1, 0, 99, 600, 700, std::numeric_limits<int>::max()}) {
    set.Add(status);
    EXPECT_FALSE(set.Has(status)) << status;
  }
  set.AddClass(0);
  set.AddClass(6);
  EXPECT_TRUE(set.empty());
}

TEST(HttpStatusSet, SetsWithTheSameStatusesAreEqual) {
  HttpStatusSet one;
  HttpStatusSet other;
  one.AddClass(4);
  EXPECT_NE(one, other);
  for (int status = 499; status >= 400; --status) other.Add(status);
  EXPECT_EQ(one, other);
}

}  // namespace
}  // namespace levee
