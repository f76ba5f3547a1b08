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

TEST(DefaultLimits, CallersFromElsewhereMaySendLessMetadataThanTheApplicationAndItsUpstreams) {
  const PeerLimits elsewhere = LimitsOf(Peer::kInboundCaller, Defaults(), kMemory);
  EXPECT_EQ(elsewhere.metadata_bytes, 16 * kKiB);
  EXPECT_EQ(elsewhere.metadata_fields, 100);
  EXPECT_EQ(elsewhere.header_block_bytes, 64 * kKiB);
  for (const Peer peer : {Peer::kEgressCaller, Peer::kUpstream}) {
    const PeerLimits trusted = LimitsOf(peer, Defaults(), kMemory);
    EXPECT_EQ(trusted.metadata_bytes, 128 * kKiB);
    EXPECT_EQ(trusted.metadata_fields, 1000);
    EXPECT_EQ(trusted.header_block_bytes, 256 * kKiB);
  }
}

TEST(DefaultLimits, AGivenNumberHoldsForEveryPeer) {
  const Limits given = {.streams_per_connection = 7,
                        .metadata_bytes = 40 * kKiB,
                        .metadata_fields = 20,
                        .header_block_bytes = 50 * kKiB};
  for (const Peer peer : {Peer::kEgressCaller, Peer::kInboundCaller, Peer::kUpstream}) {
    const PeerLimits limits = LimitsOf(peer, given, kMemory);
    EXPECT_EQ(limits.streams_per_connection, 7);
    EXPECT_EQ(limits.metadata_bytes, 40 * kKiB);
    EXPECT_EQ(limits.metadata_fields, 20);
    EXPECT_EQ(limits.header_block_bytes, 50 * kKiB);
  }
}

TEST(DefaultLimits, MetadataAndTheHeaderBlockThatHoldsItFollowEachOther) {
  const auto of = [](const Limits& given) { return LimitsOf(Peer::kEgressCaller, given, kMemory); };
  EXPECT_EQ(of({.metadata_bytes = 200 * kKiB}).header_block_bytes, 400 * kKiB);
  EXPECT_EQ(of({.metadata_bytes = 1 * kKiB}).header_block_bytes, 64 * kKiB);
  EXPECT_EQ(of({.header_block_bytes = 15 * kKiB}).metadata_bytes, 15 * kKiB);
  EXPECT_EQ(of({.header_block_bytes = 1024 * kKiB}).metadata_bytes, 128 * kKiB);
}

TEST(DefaultLimits, OfMetricsAreThoseOfTheConfiguration) {
  const Limits limits = Defaults();
  const Metrics::Settings metrics;
  EXPECT_EQ(metrics.method_labels, limits.method_labels);
  EXPECT_EQ(metrics.metric_series, limits.metric_series);
}

}  // namespace
}  // namespace levee
