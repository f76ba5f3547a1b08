// SPDX-License-Identifier: Apache-2.0
#include "wire/load_report.h"

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// protoc --encode=xds.data.orca.v3.OrcaLoadReport, of the same values.
TEST(LoadReport, IsAnOrcaLoadReportInBase64WithoutPadding) {
  const std::string text = LoadReportText({.utilization = 0.5, .calls = 100, .errors = 1});
  EXPECT_EQ(text.find('='), std::string::npos);
  std::string bytes;
  ASSERT_TRUE(absl::Base64Unescape(text, &bytes));
  EXPECT_EQ(absl::BytesToHexString(bytes),
            "31"
            "0000000000005940"  // rps_fractional: 100
            "39"
            "000000000000f03f"  // eps: 1
            "49"
            "000000000000e03f");  // application_utilization: 0.5
}

TEST(LoadReport, LeavesOutWhatIsZero) {
  EXPECT_EQ(LoadReportText({}), "");
  EXPECT_EQ(LoadReportText({.utilization = 1}).size(), 12u);
}

}  // namespace
}  // namespace levee
