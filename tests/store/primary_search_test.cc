// SPDX-License-Identifier: Apache-2.0
// Which sentinel is asked and when, by tables, and beside sentinels that fail and are behind.
#include "store/primary_search.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

using Kind = RedisReply::Kind;

const Instant kSearchStart = Instant() + absl::Hours(1);
const ServerAddress kOld{"10.0.0.1", 6379}, kNew{"10.0.0.2", 6379};

absl::StatusOr<RedisReply> Names(const ServerAddress& server) {
  RedisReply reply{.kind = Kind::kList};
  reply.list.push_back({.kind = Kind::kText, .text = server.host});
  reply.list.push_back({.kind = Kind::kText, .text = std::to_string(server.port)});
  return reply;
}

class PrimarySearchTest : public testing::Test {
 protected:
  // Asks when it is time, with `answer`. Returns what the search does.
  std::optional<ServerAddress> Ask(const absl::StatusOr<RedisReply>& answer) {
    now_ = std::max(now_, search_.NextQuestion());
    search_.OnAsked();
    EXPECT_TRUE(search_.NextQuestion().is_infinite());
    return search_.OnAnswer(answer, now_);
  }
  absl::Duration Wait() const { return search_.NextQuestion() - now_; }

  Random random_{1};
  PrimarySearch search_{"main", 3, random_};
  Instant now_ = kSearchStart;
};

TEST_F(PrimarySearchTest, TheFirstAnswerCounts) {
  EXPECT_LE(search_.NextQuestion(), kSearchStart);
  EXPECT_EQ(Ask(Names(kOld)), kOld);
  search_.OnReady(now_);
  EXPECT_GE(Wait(), PrimarySearch::kAgainAfter * 0.8);
  EXPECT_LE(Wait(), PrimarySearch::kAgainAfter * 1.2);
  EXPECT_EQ(Ask(Names(kOld)), std::nullopt);
  EXPECT_GE(Wait(), PrimarySearch::kAgainAfter * 0.8);
  EXPECT_EQ(search_.sentinel(), 0U);  // What one sentinel knows only grows.
}

TEST_F(PrimarySearchTest, ASentinelWithoutAnAnswerIsFollowedByTheNextAtOnceAndARoundByAPause) {
  RedisReply nil;
  RedisReply text{.kind = Kind::kText, .text = "x"};
  RedisReply error{.kind = Kind::kError, .text = "NOAUTH"};
  struct Case {
    absl::StatusOr<RedisReply> answer;
    std::string trouble;
  };
  const std::vector<Case> cases = {{absl::UnavailableError("refused"), "refused"},
                                   {nil, "it knows no main"},
                                   {text, "its answer is no address"},
                                   {error, "NOAUTH"},
                                   {Names({"", 1}), "its answer is no address"},
                                   {Names({"a", 0}), "its answer is no address"}};
  absl::Duration longest = absl::ZeroDuration();
  for (size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(search_.sentinel(), i % 3);
    EXPECT_EQ(Ask(cases[i % cases.size()].answer), std::nullopt);
    EXPECT_EQ(search_.trouble(), cases[i % cases.size()].trouble);
    if (i % 3 < 2) {
      EXPECT_EQ(Wait(), absl::ZeroDuration());
    } else {
      EXPECT_GE(Wait(), PrimarySearch::kFirstDelay / 2);
      longest = std::max(longest, Wait());
    }
  }
  EXPECT_LE(longest, PrimarySearch::kLongestDelay);
  EXPECT_GE(longest, PrimarySearch::kLongestDelay / 2);
}

TEST_F(PrimarySearchTest, APrimaryThatIsLostIsAskedForAtOnceUntilThereIsAnother) {
  Ask(Names(kOld));
  search_.OnReady(now_);
  now_ = now_ + absl::Seconds(1);
  search_.OnLost(now_);
  EXPECT_EQ(Wait(), absl::ZeroDuration());
  EXPECT_EQ(Ask(Names(kOld)), std::nullopt);  // The sentinels have not decided yet.
  EXPECT_GE(Wait(), PrimarySearch::kFirstDelay / 2);
  EXPECT_EQ(search_.sentinel(), 1U);
  EXPECT_EQ(Ask(Names(kNew)), kNew);
  search_.OnReady(now_);
  EXPECT_GE(Wait(), PrimarySearch::kAgainAfter * 0.8);
}

TEST_F(PrimarySearchTest, ALossWhileAQuestionIsUnderWayStartsNoSecondOne) {
  Ask(Names(kOld));
  search_.OnReady(now_);
  now_ = search_.NextQuestion();
  search_.OnAsked();
  search_.OnLost(now_);
  EXPECT_TRUE(search_.NextQuestion().is_infinite());
  search_.OnAnswer(Names(kOld), now_);
  EXPECT_LE(Wait(), PrimarySearch::kFirstDelay);
}

// Three sentinels and two servers. After the primary has died a sentinel names the other one, the
// next ones a while later; some sentinels do not answer at times.
TEST_F(PrimarySearchTest, AFailoverIsFollowedWithinTwoSecondsAndTheSentinelsAreNotFlooded) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    PrimarySearch search("main", 3, random);
    const Instant died = kSearchStart + absl::Seconds(5) + absl::Seconds(10) * random.Uniform();
    std::vector<Instant> knows;
    for (int i = 0; i < 3; ++i) knows.push_back(died + absl::Seconds(3) * random.Uniform());
    const Instant promoted = *std::ranges::min_element(knows);
    const Instant all_know = *std::ranges::max_element(knows);
    std::optional<ServerAddress> primary;
    std::optional<Instant> found;
    int questions = 0;
    bool ready = false;
    for (Instant now = kSearchStart; now < kSearchStart + absl::Seconds(30);
         now = now + absl::Milliseconds(5)) {
      const bool there = primary == kOld ? now < died : primary == kNew && now >= promoted;
      if (primary.has_value() && there != ready) {
        ready = there;
        there ? search.OnReady(now) : search.OnLost(now);
      } else if (primary.has_value() && !there && random.Below(20) == 0) {
        search.OnLost(now);  // It is dialled again and again.
      }
      if (primary == kNew && ready && !found.has_value()) found = now;
      if (now < search.NextQuestion()) continue;
      search.OnAsked();
      ++questions;
      const Instant known = knows[search.sentinel()];
      const bool silent = random.Below(5) == 0;
      const auto moved =
          search.OnAnswer(silent ? absl::StatusOr<RedisReply>(absl::UnavailableError("silent"))
                                 : Names(now >= known ? kNew : kOld),
                          now);
      if (!moved.has_value()) continue;
      primary = *moved;
      ready = false;
    }
    ASSERT_TRUE(found.has_value()) << "seed " << seed;
    EXPECT_LE(*found - all_know, absl::Seconds(2)) << "seed " << seed;
    EXPECT_TRUE(ready && primary == kNew) << "seed " << seed;
    EXPECT_LE(questions, 60) << "seed " << seed;
  }
}

}  // namespace
}  // namespace levee
