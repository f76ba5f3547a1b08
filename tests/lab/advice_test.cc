// SPDX-License-Identifier: Apache-2.0
// What logs say against values of a policy.
#include "lab/advice.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lab/parsed_policy.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  return AdviceText(Advise(calls, *ParsedPolicy(policy)), "levee replay");
}

constexpr auto kOk = StatusCode::kOk;
constexpr auto kAway = StatusCode::kUnavailable;
constexpr auto kBroken = StatusCode::kInternal;

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
  ParsedPolicy(advice);  // It is a policy file.
}

TEST(Advice, AShortLogSaysNothing) {
  std::vector<RecordedCall> calls;
  Add(50, {kOk}, calls);
  Add(9, {kAway, kAway, kAway}, calls);
  EXPECT_EQ(AdviceOf(calls, "policies: [{name: default}]"),
            "# 59 calls with the policy default: nothing to change\n# Then: levee replay\n");
}

// A day of calls: an attempt takes longer by chance, some fail, and one code is never rescued.
std::vector<RecordedCall> Day(int count) {
  Random random(/*seed=*/1);
  std::vector<RecordedCall> calls;
  for (int i = 0; i < count; ++i) {
    const double luck = random.Uniform();
    calls.push_back(CallOf(luck < 0.96    ? std::vector{kOk}
                           : luck < 0.98  ? std::vector{kAway, kOk}
                           : luck < 0.984 ? std::vector{kAway, kAway, kOk}
                                          : std::vector{kBroken, kBroken}));
    calls.back().at += absl::Milliseconds(i);
    calls.back().request_bytes = random.Uniform() < 0.01 ? 100'000 : 100;
    for (RecordedAttempt& attempt : calls.back().attempts) {
      attempt.took = absl::Milliseconds(10 - 20 * std::log1p(-random.Uniform()));
    }
  }
  return calls;
}

// Those calls that a log with this share of all has.
std::vector<RecordedCall> Sampled(const std::vector<RecordedCall>& calls, double sample) {
  Random random(/*seed=*/2);
  std::vector<RecordedCall> kept;
  for (const RecordedCall& call : calls) {
    if (random.Uniform() < sample) kept.push_back(call);
  }
  for (RecordedCall& call : kept) call.sample = sample;
  return kept;
}

TEST(Advice, ASampledLogGivesTheAdviceOfTheWholeOne) {
  const auto policy = ParsedPolicy(
      "policies: [{name: default,\n"
      "            retry: {codes: [UNAVAILABLE, INTERNAL], max_attempts: 5, budget: {ratio: "
      "0.5}}}]");
  const std::vector<RecordedCall> day = Day(100'000);
  const std::vector<PolicyAdvice> whole = Advise(day, *policy);
  const std::vector<PolicyAdvice> sampled = Advise(Sampled(day, 0.1), *policy);
  ASSERT_EQ(whole.size(), 1u);
  ASSERT_EQ(sampled.size(), 1u);
  EXPECT_NEAR(static_cast<double>(sampled[0].calls), 100'000, 2000);
  EXPECT_NEAR(static_cast<double>(sampled[0].logged), 10'000, 200);
  EXPECT_EQ(whole[0].logged, 100'000);
  ASSERT_EQ(whole[0].lines.size(), 5u);
  ASSERT_EQ(sampled[0].lines.size(), whole[0].lines.size());
  for (size_t i = 0; i < whole[0].lines.size(); ++i) {
    const AdviceLine& expected = whole[0].lines[i];
    const AdviceLine& is = sampled[0].lines[i];
    ASSERT_EQ(is.field, expected.field);
    double number;
    double wanted;
    const std::string digits = "0123456789.";
    if (absl::SimpleAtod(is.value.substr(0, is.value.find_first_not_of(digits)), &number) &&
        absl::SimpleAtod(expected.value.substr(0, expected.value.find_first_not_of(digits)),
                         &wanted)) {
      // A share is told in whole percents.
      EXPECT_NEAR(number, wanted, 0.1 * wanted + 0.01) << is.field;
    } else {
      EXPECT_EQ(is.value, expected.value) << is.field;
    }
  }
}

TEST(Advice, ALineCountsAsManyCallsAsItStandsFor) {
  std::vector<RecordedCall> calls;
  Add(5000, {kOk}, calls);
  for (RecordedCall& call : calls) call.sample = 0.1;
  // Of calls that fail at first the log has all.
  Add(500, {kAway, kOk}, calls);
  Add(40, {kAway, kAway, kOk}, calls);
  for (size_t i = 5000; i < calls.size(); ++i) {
    for (RecordedAttempt& attempt : calls[i].attempts) attempt.took = absl::Milliseconds(99);
  }
  const std::string advice =
      AdviceOf(calls, "policies: [{name: default, retry: {max_attempts: 3}}]");
  EXPECT_THAT(advice,
              HasSubstr("# 50540 calls with the policy default, of which the log has 5540"));
  EXPECT_THAT(advice, HasSubstr("# attempt 3 rescued 40 of 50540 calls\n      max_attempts: 2\n"));
  EXPECT_THAT(advice, HasSubstr("# the most that was used in 10s is 1%\n        ratio: 0.02\n"));
  EXPECT_THAT(AdviceOf(calls, "policies: [{name: default, hedge: {delay: 1s}}]"),
              HasSubstr("# p95 of 50540 good attempts is 10ms\n      delay: 10ms\n"));
}

TEST(Advice, ManyCallsOfWhichTheLogHasFewAreLittleEvidence) {
  std::vector<RecordedCall> calls;
  Add(999, {kOk}, calls);
  for (RecordedCall& call : calls) call.sample = 0.001;
  EXPECT_THAT(AdviceOf(calls, "policies: [{name: default}]"), HasSubstr(": nothing to change\n"));
  calls.push_back(calls.back());
  EXPECT_THAT(AdviceOf(calls, "policies: [{name: default}]"),
              HasSubstr("# p99.5 of 1000000 good attempts is 10ms\n"));
}

}  // namespace
}  // namespace levee
