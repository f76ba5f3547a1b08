// SPDX-License-Identifier: Apache-2.0
#include "wire/call_record.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

CallRecord Ended(StatusCode code, absl::Duration after, int64_t endpoint = 0) {
  CallRecord record;
  record.code = code;
  record.attempts.push_back({.start = record.start, .endpoint = endpoint});
  record.end = record.start + after;
  return record;
}

TEST(CallRecord, ACallShowsThatItsUpstreamHasTheMethodIfTheUpstreamAnsweredIt) {
  constexpr absl::Duration kSoon = absl::Milliseconds(1);
  EXPECT_TRUE(ShowsMethod(Ended(StatusCode::kOk, kSoon), /*head_sent=*/true));
  EXPECT_TRUE(ShowsMethod(Ended(StatusCode::kCancelled, kSoon), /*head_sent=*/true));
  EXPECT_TRUE(ShowsMethod(Ended(StatusCode::kNotFound, kSoon), /*head_sent=*/false));
  EXPECT_FALSE(ShowsMethod(Ended(StatusCode::kUnimplemented, kSoon), /*head_sent=*/false));
  EXPECT_FALSE(ShowsMethod(Ended(StatusCode::kUnavailable, kSoon, -1), /*head_sent=*/false));
  EXPECT_FALSE(ShowsMethod(CallRecord(), /*head_sent=*/false));
}

TEST(CallRecord, ACallThatItsCallerEndedShowsNothing) {
  EXPECT_FALSE(ShowsMethod(Ended(StatusCode::kCancelled, absl::Seconds(9)), /*head_sent=*/false));
  const auto at_deadline = [](absl::Duration after) {
    return ShowsMethod(Ended(StatusCode::kDeadlineExceeded, after), /*head_sent=*/false);
  };
  EXPECT_FALSE(at_deadline(absl::Milliseconds(99)));
  EXPECT_TRUE(at_deadline(absl::Milliseconds(100)));
}

}  // namespace
}  // namespace levee
