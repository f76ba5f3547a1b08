// SPDX-License-Identifier: Apache-2.0
#include "insight/state_record.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Instant kRecordStarted = Instant::FromNanos(5'000'000'000);

class StateRecordTest : public testing::Test {
 protected:
  // The next second begins; its calls are counted and recorded.
  void Second(const std::map<std::string, uint64_t>& calls) {
    ++second_;
    for (const auto& [upstream, count] : calls) counted_[upstream] += count;
    std::vector<UpstreamTotals> totals;
    for (const auto& [upstream, count] : counted_) {
      totals.push_back({.upstream = upstream, .calls = count});
    }
    record_.Update(second_, kRecordStarted, totals, /*budgets=*/{}, /*throttles=*/{}, /*guards=*/{},
                   remembered_);
  }
  RecentState Read(const StateQuery& query) const { return record_.Read(query, {"shop", "cart"}); }

  std::vector<RememberedCall> remembered_;
  StateRecord record_;

 private:
  uint32_t second_ = 0;
  std::map<std::string, uint64_t> counted_;
};

std::vector<std::string> Names(const RecentState& state) {
  std::vector<std::string> names;
  for (const UpstreamPast& past : state.upstreams) names.push_back(past.name);
  return names;
}

TEST_F(StateRecordTest, ConfiguredUpstreamsComeFirstAndThenThoseThatWereCalled) {
  Second({});
  Second({{"cart", 1}, {"gone", 1}, {"idle", 0}});
  EXPECT_THAT(Names(Read({})), ElementsAre("shop", "cart", "gone"));
  EXPECT_THAT(Names(Read({.upstream = "gone"})), ElementsAre("gone"));
  EXPECT_THAT(Names(Read({.upstream = "idle"})), IsEmpty());
}

TEST_F(StateRecordTest, CallsBeforeTheFirstSecondAndDuringAPauseArePartOfNoSample) {
  Second({{"cart", 7}});
  EXPECT_EQ(Read({.upstream = "cart"}).upstreams.at(0).recent.added.calls, 0u);
  record_.Pause();
  EXPECT_FALSE(record_.begun());
  Second({{"cart", 5}});
  Second({{"cart", 2}});
  const RecentState state = Read({.upstream = "cart"});
  EXPECT_EQ(state.second, 3u);
  EXPECT_EQ(state.upstreams.at(0).recent.added.calls, 2u);
  EXPECT_EQ(state.upstreams.at(0).last_called, 3u);
}

TEST_F(StateRecordTest, SamplesAreThoseAfterTheSecondThatTheReaderKnowsOfTheUpstreamItWants) {
  Second({});
  for (int i = 0; i < 4; ++i) Second({{"cart", 1}, {"shop", 1}});
  const RecentState state = Read({.details_of = "cart", .since = 3});
  EXPECT_THAT(state.upstreams.at(0).samples, IsEmpty());  // shop
  EXPECT_THAT(state.upstreams.at(1).samples, SizeIs(2));  // cart
  EXPECT_EQ(state.upstreams.at(1).later, 2u);
  EXPECT_EQ(state.upstreams.at(0).recent.added.calls, 4u);
}

TEST_F(StateRecordTest, ATooLongAnswerHasNoSamplesAndSaysHowManyThereAre) {
  std::map<std::string, uint64_t> calls;
  for (int i = 0; i < 11; ++i) calls["upstream " + std::to_string(i)] = 1;
  Second({});
  for (int i = 0; i < History::kSeconds; ++i) Second(calls);
  const UpstreamPast left_out = Read({}).upstreams.at(2);
  EXPECT_THAT(left_out.samples, IsEmpty());
  EXPECT_EQ(left_out.later, static_cast<size_t>(History::kSeconds));
  const RecentState one = Read({.details_of = "upstream 0"});
  EXPECT_THAT(one.upstreams.at(2).samples, SizeIs(History::kSeconds));
}

TEST_F(StateRecordTest, OnlyTheCallsOfTheUpstreamThatIsAskedForAreRead) {
  for (const char* upstream : {"cart", "shop"}) {
    RememberedCall& call = remembered_.emplace_back();
    call.record.end = kRecordStarted + absl::Milliseconds(10);
    call.upstream = upstream;
  }
  Second({});
  EXPECT_THAT(Read({}).calls, SizeIs(2));
  const RecentState state = Read({.upstream = "shop"});
  ASSERT_THAT(state.calls, SizeIs(1));
  EXPECT_EQ(state.calls[0].call->upstream, "shop");
  EXPECT_THAT(Read({.since = 1}).calls, IsEmpty());
}

}  // namespace
}  // namespace levee
