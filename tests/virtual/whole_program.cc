// SPDX-License-Identifier: Apache-2.0
// Lets all tests of the program that it is linked into run on JumpingTime, each from its beginning.
#include <gtest/gtest.h>

#include <optional>

#include "virtual/jumping_time.h"

namespace levee {
namespace {

class OnJumpingTime final : public testing::EmptyTestEventListener {
 private:
  void OnTestStart(const testing::TestInfo&) override { time_.emplace(); }
  void OnTestEnd(const testing::TestInfo&) override { time_.reset(); }

  std::optional<JumpingTime> time_;
};

// GoogleTest owns it.
[[maybe_unused]] const bool appended = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new OnJumpingTime);
  return true;
}();

}  // namespace
}  // namespace levee
