// SPDX-License-Identifier: Apache-2.0
// What is built without a configuration has the limits of the default one.
#include "config/load.h"
#include "gtest/gtest.h"
#include "h2/session.h"
#include "server/connection_options.h"
#include "settings/peer_limits.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

Limits Defaults() {
  const auto snapshot = ParseConfig("f", "");
  EXPECT_TRUE(snapshot.ok());
  return (*snapshot)->limits;
}

constexpr int64_t kKiB = 1024;
constexpr int64_t kMemory = 96 * kKiB * kKiB;

TEST(DefaultLimits, OfASessionAreThoseOfACallerFromElsewhere) {
  EXPECT_EQ(ConnectionOptionsOf(Peer::kInboundCaller, Defaults(), kMemory).session,
            h2::Session::Options());
}

TEST(DefaultLimits, TheApplicationMayHaveAStreamForEach16KiBOfMemory) {
  const auto streams = [](int64_t memory) {
    return LimitsOf(Peer::kEgressCaller, Defaults(), memory).streams_per_connection;
  };
  EXPECT_EQ(streams(kMemory), 6 * 1024);
  EXPECT_EQ(streams(1 * kKiB * kKiB), 1024);
  EXPECT_EQ(streams(1000 * kMemory), 100'000);
}

TEST(DefaultLimits, ACallerFromElsewhereHas1024StreamsWhateverMemoryThereIs) {
  for (const int64_t memory : {kMemory, 1000 * kMemory}) {
    EXPECT_EQ(LimitsOf(Peer::kInboundCaller, Defaults(), memory).streams_per_connection, 1024);
  }
}

TEST(DefaultLimits, AGivenNumberHoldsForEveryPeer) {
  const Limits given = {.streams_per_connection = 7};
  for (const Peer peer : {Peer::kEgressCaller, Peer::kInboundCaller}) {
    EXPECT_EQ(LimitsOf(peer, given, kMemory).streams_per_connection, 7);
  }
}

TEST(DefaultLimits, OfMetricsAreThoseOfTheConfiguration) {
  const Limits limits = Defaults();
  const Metrics::Settings metrics;
  EXPECT_EQ(metrics.method_labels, limits.method_labels);
  EXPECT_EQ(metrics.metric_series, limits.metric_series);
}

}  // namespace
}  // namespace levee
