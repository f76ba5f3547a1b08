// SPDX-License-Identifier: Apache-2.0
// Which events reach the sink, and what it costs when they do not.
#include "log/event_log.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "log/event_text.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A log whose lines a test reads.
class LogTest : public testing::Test {
 protected:
  EventLog::Sink Sink() {
    return [this](const LogEvent& event) { lines_.push_back(EventText(event)); };
  }

  std::vector<std::string> lines_;
};

TEST_F(LogTest, EventsBelowTheLevelAreNotWritten) {
  EventLog log(LogLevel::kWarning, Sink());
  log.Write(EventKind::kConnectionAccepted);
  log.Write(EventKind::kStarted);
  log.Write(EventKind::kConfigWarning);
  log.Write(EventKind::kConfigRefused);
  EXPECT_THAT(lines_, ElementsAre(testing::StartsWith("config_warning: "),
                                  testing::StartsWith("config_refused: ")));
}

TEST_F(LogTest, AtDebugEverythingIsWrittenAndWhenOffNothing) {
  EventLog all(LogLevel::kDebug, Sink());
  EventLog none(LogLevel::kOff, Sink());
  for (const EventKindFacts& facts : kEventKinds) {
    EXPECT_TRUE(all.Enabled(facts.kind)) << facts.name;
    EXPECT_FALSE(none.Enabled(facts.kind)) << facts.name;
    none.Write(facts.kind);
  }
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(LogTest, ALogWithoutASinkWritesNothing) {
  EventLog log;
  log.Write(EventKind::kConfigRefused);
  EXPECT_FALSE(log.Enabled(EventKind::kConfigRefused));
}

}  // namespace
}  // namespace levee
