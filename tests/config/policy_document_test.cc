// SPDX-License-Identifier: Apache-2.0
// The policy at the beginning of docs/policy.md has to work as it stands there.
#include <fstream>
#include <sstream>
#include <string>

#include "config/load.h"
#include "files/source_path.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// The first block of the document fenced as ```yaml.
std::string ShownPolicy() {
  std::ifstream file(SourcePath("docs/policy.md"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string document = text.str();
  const std::string fence = "```yaml\n";
  const size_t begin = document.find(fence);
  if (begin == std::string::npos) return "";
  const size_t from = begin + fence.size();
  return document.substr(from, document.find("```\n", from) - from);
}

TEST(PolicyDocument, ShowsAPolicyThatLoads) {
  const std::string policy = ShownPolicy();
  ASSERT_NE(policy, "");
  const auto snapshot = ParseConfig("docs/policy.md", policy);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  EXPECT_EQ((*snapshot)->upstreams.size(), 2u);
  EXPECT_EQ((*snapshot)->routes.routes().size(), 2u);
}

}  // namespace
}  // namespace levee
