// SPDX-License-Identifier: Apache-2.0
// What is built without a configuration has the limits of the default one.
#include "config/load.h"
#include "gtest/gtest.h"
#include "h2/session.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

Limits Defaults() {
  const auto snapshot = ParseConfig("f", "");
  EXPECT_TRUE(snapshot.ok());
  return (*snapshot)->limits;
}

TEST(DefaultLimits, OfASessionAreThoseOfTheConfiguration) {
  const Limits limits = Defaults();
  const h2::Session::Options session;
  EXPECT_EQ(session.max_concurrent_streams, limits.streams_per_connection);
  EXPECT_EQ(session.metadata_bytes, limits.metadata_bytes);
  EXPECT_EQ(session.metadata_fields, limits.metadata_fields);
  EXPECT_EQ(session.header_block_bytes, limits.header_block_bytes);
  EXPECT_EQ(session.resets_per_second, limits.resets_per_second);
  EXPECT_EQ(session.control_frames_per_second, limits.idle_frames_per_second);
  EXPECT_EQ(session.pending_frames, limits.pending_frames);
  EXPECT_EQ(session.output_bytes, limits.output_bytes);
}

TEST(DefaultLimits, OfMetricsAreThoseOfTheConfiguration) {
  const Limits limits = Defaults();
  const Metrics::Settings metrics;
  EXPECT_EQ(metrics.method_labels, limits.method_labels);
  EXPECT_EQ(metrics.metric_series, limits.metric_series);
}

}  // namespace
}  // namespace levee
