// SPDX-License-Identifier: Apache-2.0
// The result of a check, counted and as JSON.
#include "config/check_report.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

Fault Ratio() { return {"b.yaml", 2, 5, "policies[0]", CheckCode::kHighRatio, "a \"b\""}; }

TEST(CheckReport, SummaryCountsFaultsAndWarnings) {
  CheckedConfig checked;
  EXPECT_EQ(SummaryOf(checked), "");
  checked.warnings = {Ratio()};
  EXPECT_EQ(SummaryOf(checked), "1 warning");
  checked.faults = {Fault(), Fault()};
  EXPECT_EQ(SummaryOf(checked), "2 faults, 1 warning");
  checked.warnings.clear();
  EXPECT_EQ(SummaryOf(checked), "2 faults");
}

TEST(CheckReport, JsonHasEveryPartOfAFault) {
  CheckedConfig checked;
  checked.faults = {{"a.yaml", 0, 0, "", CheckCode::kUnreadableFile, "cannot be read"}};
  checked.warnings = {Ratio()};
  EXPECT_EQ(CheckReportJson({"a.yaml", "b.yaml"}, checked, false),
            R"({"ok": false, "files": ["a.yaml", "b.yaml"], "faults": [{"file": "a.yaml", )"
            R"("line": 0, "column": 0, "code": "LV401", "severity": "fault", "path": "", )"
            R"("text": "cannot be read"}], "warnings": [{"file": "b.yaml", "line": 2, )"
            R"("column": 5, "code": "LV906", "severity": "warning", "path": "policies[0]", )"
            R"("text": "a \"b\""}]})");
}

TEST(CheckReport, JsonOfAConfigurationInOrderHasEmptyLists) {
  EXPECT_EQ(CheckReportJson({"-"}, CheckedConfig(), true),
            R"({"ok": true, "files": ["-"], "faults": [], "warnings": []})");
}

}  // namespace
}  // namespace levee
