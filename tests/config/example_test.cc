// SPDX-License-Identifier: Apache-2.0
// A configuration that uses most of the contract.
#include <string>

#include "config/load.h"
#include "config/policy_files.h"
#include "files/source_path.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

const std::string kCheckout = SourcePath("tests/config/checkout.yaml");

TEST(Example, LoadsAsAWhole) {
  const CheckedConfig checked = CheckConfig({{kCheckout}, std::nullopt});
  ASSERT_EQ(FormatFaults(checked.faults), "");
  const Snapshot* const snapshot = checked.snapshot.get();
  EXPECT_EQ(snapshot->listeners.size(), 2u);
  EXPECT_EQ(snapshot->listeners[1].address.path, "/run/levee/egress.sock");
  EXPECT_EQ(snapshot->metrics->host, "0.0.0.0");
  EXPECT_EQ(snapshot->admin->port, 9462);
  EXPECT_EQ(snapshot->grpc_admin->port, 9463);
  EXPECT_EQ(snapshot->upstreams.size(), 4u);
  EXPECT_EQ(snapshot->routes.routes().size(), 5u);
  ASSERT_EQ(snapshot->policies.size(), 3u);
  EXPECT_EQ(snapshot->policies[0].key_header, "idempotency-key");
  EXPECT_EQ(snapshot->policies[1].retry.rules.size(), 2u);
  EXPECT_EQ(snapshot->policies[1].rate_limits.size(), 1u);
  EXPECT_EQ(snapshot->policies[2].name, "default");
}

TEST(Example, HasOneDangerousSetting) {
  const CheckedConfig checked = CheckConfig({{kCheckout}, std::nullopt});
  ASSERT_EQ(checked.warnings.size(), 1u) << FormatFaults(checked.warnings);
  EXPECT_EQ(checked.warnings[0].code, CheckCode::kAttemptTimeoutNotRetried);
  EXPECT_EQ(checked.warnings[0].path, "policies[1].retry.attempt_timeout");
  EXPECT_EQ(checked.warnings[0].line, 34);
}

TEST(Example, FilesOfTheRepositoryAreFreeOfFaultsAndWarnings) {
  for (const std::string& file : PolicyFiles()) {
    const CheckedConfig checked = CheckConfig({{file}, std::nullopt});
    EXPECT_EQ(FormatFaults(checked.faults), "");
    EXPECT_EQ(FormatFaults(checked.warnings), "");
  }
}

TEST(Example, BuiltInDefaultIsFreeOfWarnings) {
  EXPECT_EQ(FormatFaults(CheckConfig({}, std::nullopt).warnings), "");
}

}  // namespace
}  // namespace levee
