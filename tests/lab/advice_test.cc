// SPDX-License-Identifier: Apache-2.0
// What logs say against values of a policy.
#include "lab/advice.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

std::shared_ptr<const Snapshot> Policy(const std::string& text) {
  const auto parsed = ParseConfig("p", text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return *parsed;
}

// A call whose attempts end with these codes, each after 10 ms.
RecordedCall CallOf(const std::vector<StatusCode>& codes) {
  RecordedCall call{.at = absl::FromUnixSeconds(1000)};
  call.authority = "cart:80";
  call.path = "/shop.Cart/Add";
  call.code = codes.back();
  for (const StatusCode code : codes) {
    call.attempts.push_back(
        {.endpoint = "10.0.0.1:80", .took = absl::Milliseconds(10), .code = code});
  }
  return call;
}

void Add(int count, const std::vector<StatusCode>& codes, std::vector<RecordedCall>& calls) {
  for (int i = 0; i < count; ++i) calls.push_back(CallOf(codes));
}

std::string AdviceOf(const std::vector<RecordedCall>& calls, const std::string& policy) {
  return AdviceText(Advise(calls, *Policy(policy)), "levee replay");
}

constexpr auto kOk = StatusCode::kOk;
constexpr auto kAway = StatusCode::kUnavailable;

TEST(Advice, TheTimeoutOfAnAttemptComesFromGoodAttempts) {
  std::vector<RecordedCall> calls;
  Add(2000, {kOk}, calls);
  for (int i = 0; i < 30; ++i)
    calls[static_cast<size_t>(i)].attempts[0].took = absl::Milliseconds(41.2);
  EXPECT_THAT(AdviceOf(calls, "policies: [{name: default}]"),
              HasSubstr("  - name: default\n    retry:\n"
                        "      # p99.5 of 2000 good attempts is 41.2ms\n"
                        "      attempt_timeout: 42ms\n"));
  EXPECT_THAT(AdviceOf(calls, "policies: [{name: default, retry: {attempt_timeout: 30ms}}]"),
              Not(HasSubstr("attempt_timeout")));
}

TEST(Advice, TheHedgeWaitsForWhatAlmostAllAttemptsTake) {
  std::vector<RecordedCall> calls;
  Add(2000, {kOk}, calls);
  EXPECT_THAT(
      AdviceOf(calls, "policies: [{name: default, hedge: {delay: 99ms}}]"),
      HasSubstr("    hedge:\n      # p95 of 2000 good attempts is 10ms\n      delay: 10ms\n"));
}

TEST(Advice, ACodeWhoseRetriesRescueNothingIsDropped) {
  std::vector<RecordedCall> calls;
  Add(2000, {kOk}, calls);
  Add(100, {kAway, kOk}, calls);
  Add(99, {StatusCode::kInternal, StatusCode::kInternal}, calls);
  Add(1, {StatusCode::kInternal, kOk}, calls);
  EXPECT_THAT(
      AdviceOf(calls, "policies: [{name: default, retry: {codes: [UNAVAILABLE, INTERNAL]}}]"),
      HasSubstr("      # of 100 retries after INTERNAL 1 succeeded\n      codes: [UNAVAILABLE]\n"));
}

TEST(Advice, AnAttemptThatRescuesHardlyAnythingIsNotMade) {
  std::vector<RecordedCall> calls;
  Add(5000, {kOk}, calls);
  Add(50, {kAway, kOk}, calls);
  Add(4, {kAway, kAway, kOk}, calls);
  EXPECT_THAT(AdviceOf(calls, "policies: [{name: default, retry: {max_attempts: 4}}]"),
              HasSubstr("      # attempt 3 rescued 4 of 5054 calls\n      max_attempts: 2\n"));
  Add(4, {kAway, kAway, kOk}, calls);
  EXPECT_THAT(AdviceOf(calls, "policies: [{name: default, retry: {max_attempts: 4}}]"),
              HasSubstr("max_attempts: 3\n"));
}

TEST(Advice, TheBufferHoldsWhatIsSentAndTheRatioWhatIsUsed) {
  std::vector<RecordedCall> calls;
  Add(2000, {kOk}, calls);
  Add(30, {kAway, kOk}, calls);
  for (int i = 0; i < 10; ++i) calls[static_cast<size_t>(i)].request_bytes = 100'000;
  const std::string advice = AdviceOf(calls, "policies: [{name: default}]");
  EXPECT_THAT(advice, HasSubstr("      buffer: 128KiB\n"));
  EXPECT_THAT(advice, HasSubstr("      budget:\n        # the most that was used in 10s is "));
  EXPECT_THAT(advice, HasSubstr("        ratio: 0.02\n"));
  Policy(advice);  // It is a policy file.
}

TEST(Advice, AShortLogSaysNothing) {
  std::vector<RecordedCall> calls;
  Add(50, {kOk}, calls);
  Add(9, {kAway, kAway, kAway}, calls);
  EXPECT_EQ(AdviceOf(calls, "policies: [{name: default}]"),
            "# 59 calls with the policy default: nothing to change\n# Then: levee replay\n");
}

}  // namespace
}  // namespace levee
