// SPDX-License-Identifier: Apache-2.0
// Which limits operators are told of, on virtual time.
#include "sidecar/limit_watch.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "log/event_text.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LimitWatchTest : public testing::Test {
 protected:
  std::vector<std::string> Look(double seconds) {
    watch_.Look(hits_, Instant::FromNanos(0) + absl::Seconds(seconds));
    return std::exchange(lines_, {});
  }

  std::vector<std::string> lines_;
  EventLog log_{LogLevel::kInfo,
                [this](const LogEvent& event) { lines_.push_back(EventText(event)); }};
  Metrics metrics_{{}};
  net::EventLoop loop_;
  TimerWheel wheel_{Instant::FromNanos(0)};
  LimitWatch::Hits hits_{};
  LimitWatch watch_{log_, metrics_, loop_, wheel_};
};

TEST_F(LimitWatchTest, OfEachLimitThereIsOneLineAMinuteWithTheHitsSinceTheLastOne) {
  EXPECT_THAT(Look(1), IsEmpty());
  hits_[Limit::kConnections] = 3;
  EXPECT_THAT(Look(2), ElementsAre("limit_reached: a limit was reached limit=connections hits=3"));
  hits_[Limit::kConnections] = 1000;
  for (int second = 3; second < 62; ++second) EXPECT_THAT(Look(second), IsEmpty());
  hits_[Limit::kConnections] = 1003;
  EXPECT_THAT(Look(62),
              ElementsAre("limit_reached: a limit was reached limit=connections hits=1000"));
  for (int second = 63; second < 600; ++second) EXPECT_THAT(Look(second), IsEmpty());
}

TEST_F(LimitWatchTest, LimitsDoNotTakeEachOthersPlaces) {
  hits_[Limit::kConnections] = 1;
  hits_[Limit::kReplayBytes] = 2;
  EXPECT_THAT(Look(1), ElementsAre("limit_reached: a limit was reached limit=replay_bytes hits=2",
                                   "limit_reached: a limit was reached limit=connections hits=1"));
}

}  // namespace
}  // namespace levee
