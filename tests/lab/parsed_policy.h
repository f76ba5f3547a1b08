// SPDX-License-Identifier: Apache-2.0
// Tests write policies as text.
#pragma once

#include <memory>
#include <string>

#include "config/load.h"
#include "gtest/gtest.h"

namespace levee {

inline std::shared_ptr<const Snapshot> ParsedPolicy(const std::string& text) {
  const auto parsed = ParseConfig("p", text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return *parsed;
}

}  // namespace levee
