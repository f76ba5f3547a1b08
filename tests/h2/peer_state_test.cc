// SPDX-License-Identifier: Apache-2.0
// SETTINGS and GOAWAY of a peer, without a session.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "h2/peer_goaway.h"
#include "h2/peer_settings.h"

namespace levee::h2 {
namespace {

using Entries = std::vector<std::pair<int, uint32_t>>;

void Append(std::vector<uint8_t>& to, uint32_t value) {
  to.resize(to.size() + 4);
  PutUint32(to.data() + to.size() - 4, value);
}

PeerSettings::Fault Take(PeerSettings& settings, const Entries& entries,
                         std::vector<uint32_t>* tables = nullptr) {
  std::vector<uint8_t> payload;
  for (const auto& [id, value] : entries) {
    payload.push_back(0);
    payload.push_back(static_cast<uint8_t>(id));
    Append(payload, value);
  }
  return settings.Take(payload, [&](uint32_t bytes) {
    if (tables != nullptr) tables->push_back(bytes);
  });
}

TEST(PeerSettings, AllowAHundredStreamsUntilTheyComeAndAnyNumberThen) {
  PeerSettings settings(false);
  EXPECT_FALSE(settings.received());
  EXPECT_EQ(settings.max_streams(), 100);
  EXPECT_EQ(Take(settings, {}).what, nullptr);
  EXPECT_TRUE(settings.received());
  EXPECT_EQ(settings.max_streams(), UINT32_MAX);
  EXPECT_EQ(Take(settings, {{3, 7}}).what, nullptr);
  EXPECT_EQ(Take(settings, {}).what, nullptr);
  EXPECT_EQ(settings.max_streams(), 7);
}

TEST(PeerSettings, TheLastOfSeveralValuesCounts) {
  PeerSettings settings(false);
  EXPECT_EQ(Take(settings, {{4, 1}, {4, 2}, {4, 3}}).what, nullptr);
  EXPECT_EQ(settings.initial_window(), 3);
}

TEST(PeerSettings, EachTableSizeIsTold) {
  PeerSettings settings(false);
  std::vector<uint32_t> tables;
  EXPECT_EQ(Take(settings, {{1, 0}, {1, 4096}}, &tables).what, nullptr);
  EXPECT_EQ(tables, (std::vector<uint32_t>{0, 4096}));
}

TEST(PeerSettings, UnknownOnesAreIgnored) {
  PeerSettings settings(false);
  EXPECT_EQ(Take(settings, {{99, 1}, {8, 2}}).what, nullptr);
}

TEST(PeerSettings, ValuesOutOfRangeAreFaults) {
  PeerSettings server(/*may_enable_push=*/false);
  EXPECT_EQ(Take(server, {{2, 1}}).error_code, kResetProtocolError);
  EXPECT_EQ(Take(server, {{4, 0x80000000}}).error_code, kResetFlowControlError);
  EXPECT_EQ(Take(server, {{5, 16'383}}).error_code, kResetProtocolError);
  EXPECT_EQ(Take(server, {{5, 1 << 24}}).error_code, kResetProtocolError);
  EXPECT_EQ(Take(server, {{9, 2}}).error_code, kResetProtocolError);
  EXPECT_FALSE(server.received());
  PeerSettings client(/*may_enable_push=*/true);
  EXPECT_EQ(Take(client, {{2, 1}, {4, 0x7fffffff}, {5, 16'384}, {9, 1}}).what, nullptr);
  EXPECT_EQ(Take(client, {{2, 2}}).error_code, kResetProtocolError);
}

void TakeGoaway(PeerGoaway& goaway, uint32_t last_id, uint32_t error_code,
                const std::string& text) {
  std::vector<uint8_t> payload;
  Append(payload, last_id);
  Append(payload, error_code);
  payload.insert(payload.end(), text.begin(), text.end());
  goaway.Take(payload);
}

TEST(PeerGoaway, ExcludesNothingUntilItComes) {
  const PeerGoaway goaway;
  EXPECT_FALSE(goaway.received());
  EXPECT_FALSE(goaway.Excludes(0));
  EXPECT_FALSE(goaway.Excludes(1));
}

TEST(PeerGoaway, ExcludesStreamsAboveItsLastIdAndThoseThatHaveNotLeft) {
  PeerGoaway goaway;
  TakeGoaway(goaway, 5, kResetNoError, "");
  EXPECT_TRUE(goaway.Excludes(0));
  EXPECT_FALSE(goaway.Excludes(5));
  EXPECT_TRUE(goaway.Excludes(7));
}

TEST(PeerGoaway, ALaterOneCanOnlyExcludeMore) {
  PeerGoaway goaway;
  TakeGoaway(goaway, 5, kResetNoError, "");
  TakeGoaway(goaway, 9, kResetNoError, "");
  EXPECT_TRUE(goaway.Excludes(7));
  TakeGoaway(goaway, 3, kResetNoError, "");
  EXPECT_TRUE(goaway.Excludes(5));
}

TEST(PeerGoaway, SaysThatThereWereTooManyPingsByCodeAndText) {
  PeerGoaway goaway;
  TakeGoaway(goaway, 5, kResetNoError, "too_many_pings");
  TakeGoaway(goaway, 5, kResetEnhanceYourCalm, "something else");
  EXPECT_FALSE(goaway.too_many_pings());
  TakeGoaway(goaway, 5, kResetEnhanceYourCalm, "too_many_pings");
  TakeGoaway(goaway, 5, kResetNoError, "");
  EXPECT_TRUE(goaway.too_many_pings());
}

TEST(PeerGoaway, AnAssumedOneExcludesOnlyWhatHasNotLeft) {
  PeerGoaway goaway;
  goaway.Assume();
  EXPECT_TRUE(goaway.received());
  EXPECT_TRUE(goaway.Excludes(0));
  EXPECT_FALSE(goaway.Excludes(kMaxStreamId));
}

}  // namespace
}  // namespace levee::h2
