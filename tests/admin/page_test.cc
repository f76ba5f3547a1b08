// SPDX-License-Identifier: Apache-2.0
// The files of the page in the binary are those of the source tree.
#include "admin/page.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "files/source_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

const std::filesystem::path kFolder = SourcePath("proxy/admin/page");

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

struct Entry {
  std::string path, type, file;
};

std::vector<Entry> Entries() {
  std::istringstream lines(ReadFile(kFolder / "files.txt"));
  std::vector<Entry> entries;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Entry entry;
    if (line.starts_with('/') && words >> entry.path >> entry.type >> entry.file) {
      entries.push_back(entry);
    }
  }
  return entries;
}

TEST(PageFiles, AreThoseOfTheListByteForByte) {
  const auto entries = Entries();
  ASSERT_THAT(PageFiles(), testing::SizeIs(entries.size()));
  for (size_t i = 0; i < entries.size(); ++i) {
    SCOPED_TRACE(entries[i].path);
    EXPECT_EQ(PageFiles()[i].path, entries[i].path);
    EXPECT_EQ(PageFiles()[i].bytes, ReadFile(kFolder / entries[i].file));
    EXPECT_FALSE(PageFiles()[i].bytes.empty());
  }
}

TEST(PageFiles, OfTextSayItsEncoding) {
  std::set<std::string> types;
  for (const PageFile& file : PageFiles()) types.insert(std::string(file.type));
  EXPECT_THAT(types, testing::ElementsAre(
                         "image/svg+xml", "text/css; charset=utf-8", "text/html; charset=utf-8",
                         "text/javascript; charset=utf-8", "text/plain; charset=utf-8"));
}

// The page is part of every sidecar, and sent without compression; docs/decisions/charts.md has
// what is how large.
TEST(PageFiles, StaySmall) {
  size_t bytes = 0;
  for (const PageFile& file : PageFiles()) bytes += file.bytes.size();
  EXPECT_LT(bytes, 235'000u);
}

}  // namespace
}  // namespace levee
