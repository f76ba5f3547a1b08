// SPDX-License-Identifier: Apache-2.0
// Explanations of configurations that tests write.
#pragma once

#include <string>
#include <vector>

#include "config/load.h"
#include "config/merge.h"
#include "gtest/gtest.h"
#include "lab/explanation.h"

namespace levee {

// A configuration without faults.
class Asked {
 public:
  // In a file called f.
  explicit Asked(const std::string& text) : Asked(std::vector<ConfigText>{{"f", text}}) {}
  explicit Asked(const std::vector<ConfigText>& texts)
      : checked_(CheckConfig(texts, FaultList(), complete_)) {
    EXPECT_EQ(FormatFaults(checked_.faults), "");
  }

  const Snapshot& snapshot() const { return *checked_.snapshot; }
  absl::StatusOr<Explanation> Explain(const ExplainQuestion& question) const {
    return levee::Explain(snapshot(), complete_, question);
  }

 private:
  ReadConfig complete_;
  const CheckedConfig checked_;
};

// The explanation of a text in a file called f.
inline Explanation ExplanationOf(const std::string& text, const ExplainQuestion& question = {}) {
  const absl::StatusOr<Explanation> explanation = Asked(text).Explain(question);
  EXPECT_TRUE(explanation.ok()) << explanation.status();
  return explanation.ok() ? *explanation : Explanation();
}

}  // namespace levee
