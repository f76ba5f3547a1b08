// SPDX-License-Identifier: Apache-2.0
// docs/checks.md explains every code, and each of its examples yields the code that it stands for.
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "config/faults_of.h"
#include "files/source_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

struct Section {
  std::string title;
  std::string example;
  bool cure = false;  // something is said behind the example
};

// By code: "### LV101: Title", text, an example in a fence, and the cure.
std::map<std::string, Section> ReadSections() {
  std::map<std::string, Section> sections;
  Section* section = nullptr;
  bool escaped = false, fenced = false;
  std::ifstream file(SourcePath("docs/checks.md"));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("### ")) {
      EXPECT_FALSE(sections.contains(line.substr(4, 5))) << line;
      section = &sections[line.substr(4, 5)];
      section->title = line.substr(std::min<size_t>(line.size(), 11));
    } else if (line.starts_with("## ")) {
      section = nullptr;
    } else if (line.starts_with("```")) {
      if (!fenced) escaped = line == "```escaped";
      fenced = !fenced;
    } else if (section != nullptr && fenced) {
      std::string text = line;
      EXPECT_TRUE(!escaped || absl::CUnescape(line, &text));
      absl::StrAppend(&section->example, text, "\n");
    } else if (section != nullptr && !line.empty() && !section->example.empty()) {
      section->cure = true;
    }
  }
  return sections;
}

// MountedFile.* and DescriptorSet.* show that these are found.
constexpr char kNeedsMount[] = "LV935";
constexpr char kNeedsDescriptors[] = "LV936";

// An example says in a comment on what machine it is dangerous.
CheckedConfig Check(const std::string& example) {
  Room room;
  if (absl::StrContains(example, "--memory 128MiB")) room.memory = 128 << 20;
  if (absl::StrContains(example, "RLIMIT_NOFILE is 4096")) room.descriptors = 4096 / 8 * 7;
  return CheckConfig({{"f", example}}, std::nullopt, FaultList(), room);
}

TEST(ChecksDocument, HasEveryCodeWithItsTitleAndNoOther) {
  std::map<std::string, std::string> documented, known;
  for (const auto& [code, section] : ReadSections()) documented[code] = section.title;
  for (const CheckCodeInfo& info : AllCheckCodes()) known[CheckCodeText(info.code)] = info.title;
  EXPECT_EQ(documented, known);
}

TEST(ChecksDocument, EveryExampleYieldsItsCode) {
  for (const auto& [code, section] : ReadSections()) {
    if (code == kNeedsMount || code == kNeedsDescriptors) continue;
    const CheckedConfig checked = Check(section.example);
    std::set<std::string> found;
    for (const auto* list : {&checked.faults, &checked.warnings}) {
      for (const Fault& fault : *list) found.insert(CheckCodeText(fault.code));
    }
    EXPECT_TRUE(found.contains(code)) << code << " in " << section.example;
  }
}

// An example is about one thing, but for those that repeat something very often.
TEST(ChecksDocument, ExamplesYieldNoOtherCode) {
  const std::set<std::string> many = {"LV001", "LV002", "LV104",     "LV303",
                                      "LV320", "LV926", kNeedsMount, kNeedsDescriptors};
  for (const auto& [code, section] : ReadSections()) {
    if (many.contains(code)) continue;
    const CheckedConfig checked = Check(section.example);
    for (const Fault& fault : checked.faults) {
      EXPECT_EQ(CheckCodeText(fault.code), code) << FormatFault(fault);
    }
    if (!checked.faults.empty()) continue;
    for (const Fault& warning : checked.warnings) {
      EXPECT_EQ(CheckCodeText(warning.code), code) << FormatFault(warning);
    }
  }
}

TEST(ChecksDocument, EveryCodeHasACure) {
  for (const auto& [code, section] : ReadSections()) EXPECT_TRUE(section.cure) << code;
}

}  // namespace
}  // namespace levee
