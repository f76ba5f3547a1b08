// SPDX-License-Identifier: Apache-2.0
// docs/logs.md tells of every event, and of none that is not there.
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text.h"
#include "files/source_path.h"
#include "gtest/gtest.h"
#include "log/event.h"

namespace levee {
namespace {

// Name -> "level: message" of the events in the document's tables.
std::map<std::string, std::string> Documented() {
  std::ifstream file(SourcePath("docs/logs.md"));
  const std::string document{std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>()};
  std::map<std::string, std::string> events;
  for (absl::string_view line : absl::StrSplit(document, '\n')) {
    if (!absl::ConsumePrefix(&line, "| `")) continue;
    std::vector<std::string> cells = absl::StrSplit(line, '|');
    for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
    if (cells.size() < 6) continue;  // Another table.
    const std::string name = cells[0].substr(0, cells[0].find('`'));
    EXPECT_FALSE(cells[4].empty()) << line;
    EXPECT_TRUE(events.emplace(name, absl::StrCat(cells[1], ": ", cells[2])).second) << line;
  }
  return events;
}

TEST(LogDocument, TellsOfEveryEventItsLevelAndItsMessage) {
  std::map<std::string, std::string> events;
  for (const EventKindFacts& facts : kEventKinds) {
    events[std::string(facts.name)] =
        absl::StrCat(Abseil(LogLevelName(facts.level)), ": ", Abseil(facts.message));
  }
  EXPECT_EQ(Documented(), events);
}

}  // namespace
}  // namespace levee
