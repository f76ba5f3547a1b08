// SPDX-License-Identifier: Apache-2.0
// Short ways to say what a configuration's faults or values are.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "config/load.h"
#include "gtest/gtest.h"

namespace levee {

// All faults of the text, one per line, as a user sees them; the file is called f.
inline std::string FaultsOf(const std::string& text) {
  return FormatFaults(CheckConfig({{"f", text}}, std::nullopt).faults);
}

// The snapshot of files; else an error whose message is all faults.
inline absl::StatusOr<std::shared_ptr<const Snapshot>> LoadConfig(const ConfigInput& input) {
  const CheckedConfig checked = CheckConfig(input);
  if (checked.snapshot != nullptr) return checked.snapshot;
  return absl::InvalidArgumentError(FormatFaults(checked.faults));
}

// The snapshot of a text without faults. An empty one, and a failed test, if it has any.
inline std::shared_ptr<const Snapshot> SnapshotOf(const std::string& text) {
  const CheckedConfig checked = CheckConfig({{"f", text}}, std::nullopt);
  EXPECT_EQ(FormatFaults(checked.faults), "") << text;
  if (checked.snapshot == nullptr) return std::make_shared<Snapshot>();
  return checked.snapshot;
}

// The policy "default" with these fields, and its faults; the fields begin in line 2, column 1.
inline std::string PolicyText(const std::string& fields) {
  return "policies: [{name: default,\n" + fields + "}]\n";
}
inline CallPolicy PolicyOf(const std::string& fields) {
  const auto snapshot = SnapshotOf(PolicyText(fields));
  return snapshot->policies.empty() ? CallPolicy() : snapshot->policies[0];
}
inline std::string PolicyFaults(const std::string& fields) { return FaultsOf(PolicyText(fields)); }

// The retry policy of a policy "default" whose `retry` is this YAML, in one line.
inline RetryPolicy RetryOf(const std::string& retry) {
  const auto snapshot = SnapshotOf("policies: [{name: default, retry: " + retry + "}]\n");
  return snapshot->policies.empty() ? RetryPolicy() : snapshot->policies[0].retry;
}

// The faults of the backoff of a policy "default" whose fields begin in line 2, column 1.
inline std::string BackoffFaults(const std::string& fields) {
  return FaultsOf("policies: [{name: default, retry: {backoff: {\n" + fields + "}}}]\n");
}

// The only rate limit of a policy "default", and the faults of one whose fields begin in line 2,
// column 1.
inline RateLimitPolicy RateLimitOf(const std::string& fields) {
  const CallPolicy policy = PolicyOf("rate_limit: [{name: a, " + fields + "}]");
  return policy.rate_limits.empty() ? RateLimitPolicy() : policy.rate_limits[0];
}
inline std::string RateLimitFaults(const std::string& fields) {
  return FaultsOf("policies: [{name: default, rate_limit: [{name: a,\n" + fields + "}]}]\n");
}

}  // namespace levee
