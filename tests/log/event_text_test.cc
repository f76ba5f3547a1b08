// SPDX-License-Identifier: Apache-2.0
// Events as lines of text and of JSON.
#include "log/event_text.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

const absl::Time kTime = absl::FromUnixMicros(1'700'000'000'012'345);

LogEvent Unreachable() {
  return {.kind = EventKind::kEndpointUnreachable,
          .fields = {{"upstream", "cart"}, {"reason", "connection refused"}, {"suppressed", 3}}};
}

TEST(EventText, IsTheNameTheMessageAndTheFields) {
  EXPECT_EQ(EventText(Unreachable()),
            "endpoint_unreachable: an endpoint is unreachable upstream=cart "
            "reason=\"connection refused\" suppressed=3");
  EXPECT_EQ(EventText({.kind = EventKind::kStopped, .fields = {}}),
            "stopped: the sidecar has stopped");
}

TEST(EventText, WhatAPeerSentCannotForgeALine) {
  const LogEvent event{
      .kind = EventKind::kConnectionRefused,
      .fields = {{"first_bytes", "x\n2026 error y=\"\x01\xff"}, {"empty", ""}, {"equals", "a=b"}}};
  EXPECT_EQ(EventText(event),
            "connection_refused: a connection carries a protocol that the listener does not accept "
            "first_bytes=\"x\\n2026 error y=\\\"\\u0001\xef\xbf\xbd\" empty=\"\" equals=\"a=b\"");
}

TEST(EventText, LongValuesAreCut) {
  const LogEvent event{.kind = EventKind::kCallDecided,
                       .fields = {{"method", std::string(5000, 'm')}}};
  EXPECT_LT(EventText(event).size(), 1200u);
  EXPECT_LT(EventJson(event, kTime).size(), 1300u);
}

TEST(EventJson, IsOneObjectWithTimeLevelEventMessageAndFields) {
  EXPECT_EQ(EventJson(Unreachable(), kTime),
            R"({"time":"2023-11-14T22:13:20.012345Z","level":"warning",)"
            R"("event":"endpoint_unreachable","message":"an endpoint is unreachable",)"
            R"("fields":{"upstream":"cart","reason":"connection refused","suppressed":3}})");
}

TEST(EventJson, WithoutFieldsHasAnEmptyObject) {
  EXPECT_EQ(EventJson({.kind = EventKind::kStopped, .fields = {}}, kTime),
            R"({"time":"2023-11-14T22:13:20.012345Z","level":"info","event":"stopped",)"
            R"("message":"the sidecar has stopped","fields":{}})");
}

}  // namespace
}  // namespace levee
