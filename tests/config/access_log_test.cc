// SPDX-License-Identifier: Apache-2.0
// Where the access log goes, and which calls are in it.
#include <filesystem>

#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using Target = AccessLogSpec::Target;

AccessLogSpec AccessLogOf(const std::string& fields) {
  return SnapshotOf("access_log: " + fields + "\n")->access_log;
}

TEST(AccessLogConfig, IsOffByDefault) {
  const AccessLogSpec log = SnapshotOf("")->access_log;
  EXPECT_EQ(log.target, Target::kNone);
  EXPECT_FALSE(log.filter.all);
  EXPECT_TRUE(log.filter.retried);
  EXPECT_TRUE(log.filter.failed);
  EXPECT_EQ(log.filter.sample, 1);
}

TEST(AccessLogConfig, GoesToStandardOutput) {
  const AccessLogSpec log = AccessLogOf("{path: stdout}");
  EXPECT_EQ(log.target, Target::kStandardOutput);
  EXPECT_EQ(log.position, "f:1:20: access_log.path");
}

TEST(AccessLogConfig, GoesToAFile) {
  const AccessLogSpec log = AccessLogOf("{path: /var/log/levee.json}");
  EXPECT_EQ(log.target, Target::kFile);
  EXPECT_EQ(log.path, "/var/log/levee.json");
}

TEST(AccessLogConfig, ARelativePathIsRelativeToTheConfiguration) {
  const CheckedConfig checked = CheckConfig(
      {{"/etc/levee/a.yaml", ""}, {"conf/b.yaml", "access_log: {path: logs/calls}"}}, std::nullopt);
  ASSERT_NE(checked.snapshot, nullptr);
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(checked.snapshot->access_log.path, here + "/conf/logs/calls");
  EXPECT_EQ(AccessLogOf("{path: calls}").path, here + "/calls");
}

TEST(AccessLogConfig, CanBeSwitchedOffByALaterFile) {
  const CheckedConfig checked = CheckConfig(
      {{"a", "access_log: {path: stdout}"}, {"b", "access_log: {path: none}"}}, std::nullopt);
  ASSERT_NE(checked.snapshot, nullptr);
  EXPECT_EQ(checked.snapshot->access_log.target, Target::kNone);
}

TEST(AccessLogConfig, EachWordOfWhenIsOneChoice) {
  const AccessLogFilter all = AccessLogOf("{when: [all]}").filter;
  EXPECT_TRUE(all.all);
  EXPECT_FALSE(all.retried);
  EXPECT_FALSE(all.failed);
  const AccessLogFilter retried = AccessLogOf("{when: [retried]}").filter;
  EXPECT_FALSE(retried.all);
  EXPECT_TRUE(retried.retried);
  EXPECT_FALSE(retried.failed);
  const AccessLogFilter failed = AccessLogOf("{when: [failed]}").filter;
  EXPECT_FALSE(failed.all);
  EXPECT_FALSE(failed.retried);
  EXPECT_TRUE(failed.failed);
}

TEST(AccessLogConfig, TheSampleIsAShare) {
  EXPECT_EQ(AccessLogOf("{sample: 0.25}").filter.sample, 0.25);
  EXPECT_EQ(AccessLogOf("{sample: 0}").filter.sample, 0);
  EXPECT_EQ(FaultsOf("access_log: {sample: 1.5}\n"),
            "f:1:22: LV201 access_log.sample: 1.5 is too large; it must be at most 1");
}

TEST(AccessLogConfig, ALogOfNothingIsAFault) {
  EXPECT_EQ(FaultsOf("access_log: {when: []}\n"),
            "f:1:14: LV111 access_log.when: is empty; give at least one");
}

}  // namespace
}  // namespace levee
