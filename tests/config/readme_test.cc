// SPDX-License-Identifier: Apache-2.0
// Configurations in the README have to work as they stand there.
#include <fstream>
#include <sstream>
#include <string>

#include "config/load.h"
#include "files/source_path.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// The first block of the README fenced as ```yaml.
std::string PolicyOfTheReadme() {
  std::ifstream file(SourcePath("README.md"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string readme = text.str();
  const std::string fence = "```yaml\n";
  const size_t begin = readme.find(fence);
  if (begin == std::string::npos) return "";
  const size_t from = begin + fence.size();
  return readme.substr(from, readme.find("```\n", from) - from);
}

TEST(Readme, PolicyOfTheReadmeLoads) {
  const std::string policy = PolicyOfTheReadme();
  ASSERT_NE(policy, "");
  const auto snapshot = ParseConfig("README.md", policy);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  EXPECT_EQ((*snapshot)->upstreams.size(), 2u);
  EXPECT_EQ((*snapshot)->routes.routes().size(), 2u);
}

}  // namespace
}  // namespace levee
