// SPDX-License-Identifier: Apache-2.0
// The values of a policy, one by one, and where they come from.
#include "config/effective_values.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "config/faults_of.h"
#include "config/merge.h"
#include "gmock/gmock.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

// "PATH VALUE FROM" of each value of the policy "default" with these fields, in a file called f.
std::string ValuesOf(const std::string& fields) {
  ReadConfig complete;
  const CheckedConfig checked = CheckConfig({{"f", PolicyText(fields)}}, FaultList(), complete);
  EXPECT_EQ(FormatFaults(checked.faults), "");
  std::string text = "\n";
  for (const EffectiveValue& value : ListPolicyValues(complete, 0)) {
    absl::StrAppend(&text, value.path, " ", value.value, " ", value.from, "\n");
  }
  return text;
}

TEST(EffectiveValues, EntriesOfListsHaveTheirNumber) {
  const std::string values =
      ValuesOf("rate_limit: [{name: a, rate: 60/m},\n{name: b, rate: 5/s, key: [method]}]");
  EXPECT_THAT(values, HasSubstr("\nrate_limit[0].rate \"1/s\" f:2\n"));
  EXPECT_THAT(values, HasSubstr("\nrate_limit[1].key [method] f:3\n"));
  EXPECT_THAT(values, HasSubstr("\nrate_limit[1].burst 1 default\n"));
}

TEST(EffectiveValues, AValueIsInOneLineAndHasItsOwnOrigin) {
  const std::string values =
      ValuesOf("retry: {backoff: {preset: ethernet, truncate: 4}, http: [429, 5xx]}");
  EXPECT_THAT(values, HasSubstr("\nretry.backoff.slot 51.2us preset ethernet\n"));
  EXPECT_THAT(values, HasSubstr("\nretry.backoff.truncate 4 f:2\n"));
  EXPECT_THAT(values, HasSubstr("\nretry.http [429, 5xx] f:2\n"));
}

TEST(EffectiveValues, FieldsThatMeanNothingAreLeftOut) {
  const std::string values = ValuesOf("retry: {backoff: {constant: 1s}}");
  EXPECT_THAT(values, HasSubstr("\nretry.backoff.constant 1s f:2\n"));
  EXPECT_THAT(values, Not(HasSubstr("retry.backoff.initial")));
  EXPECT_THAT(values, HasSubstr("\nhedge none default\n"));
}

}  // namespace
}  // namespace levee
