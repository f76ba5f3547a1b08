// SPDX-License-Identifier: Apache-2.0
// When the files are read again, and what comes of it.
#include "sidecar/config_reloader.h"

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Text(int attempts) {
  return "policies: [{name: default, retry: {max_attempts: " + std::to_string(attempts) + "}}]\n";
}

// A reloader on a loop, which gives the test what it reads. The loop runs in the test's thread.
class ReloaderTest : public testing::Test, private net::TurnHandler, private ConfigTaker {
 protected:
  // `standard_input`: its text, if it is one of the files.
  explicit ReloaderTest(const std::string& standard_input = "")
      : file_(folder_.Write("levee.yaml", Text(2))) {
    loop_.SetTurnHandler(this);
    ConfigInput input{.files = {file_}, .to = {}, .standard_input = standard_input};
    if (!standard_input.empty()) input.files.emplace_back("-");
    const CheckedConfig checked = CheckConfig(input);
    running_ = checked.snapshot;
    ConfigTaker& taker = *this;
    reloader_ = std::make_unique<ConfigReloader>(loop_, input, checked, metrics_, log_, taker);
  }

  void Write(const std::string& text) { folder_.Write("levee.yaml", text); }

  // Turns until `condition` holds.
  void Until(const std::function<bool()>& condition) {
    condition_ = condition;
    loop_.Run();
    EXPECT_TRUE(condition());
  }
  void UntilReloads(uint64_t count) {
    Until([&] { return reloader_->status().reloads == count; });
  }
  void UntilRefused(uint64_t count) {
    Until([&] { return reloader_->status().refused == count; });
  }

  int attempts() {
    const std::lock_guard lock(mutex_);
    return running_->policies.at(0).retry.max_attempts;
  }

  // What was given to TakeOver.
  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  // From now on TakeOver waits, until Answer.
  void Hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  void Answer(absl::StatusCode code = absl::StatusCode::kOk) {
    const std::lock_guard lock(mutex_);
    held_ = false;
    answer_ = code;
    changed_.notify_all();
  }

  TemporaryFolder folder_;
  const std::string file_;
  net::EventLoop loop_;
  Metrics metrics_{{}};
  EventLog log_;
  std::unique_ptr<ConfigReloader> reloader_;

 private:
  std::shared_ptr<const Snapshot> Running() const override {
    const std::lock_guard lock(mutex_);
    return running_;
  }
  absl::Status TakeOver(const std::shared_ptr<const Snapshot>& next) override {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.wait(lock, [this] { return !held_; });
    if (answer_ != absl::StatusCode::kOk) return absl::Status(answer_, "the port is busy");
    running_ = next;
    return absl::OkStatus();
  }

  Instant OnTurnEnd(Instant now) override {
    if (condition_ != nullptr && condition_()) {
      condition_ = nullptr;
      loop_.Stop();
    }
    return now + absl::Milliseconds(5);
  }

  std::function<bool()> condition_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  absl::StatusCode answer_ = absl::StatusCode::kOk;
  int asked_ = 0;
  std::shared_ptr<const Snapshot> running_;
};

TEST_F(ReloaderTest, AChangedFileIsTakenOver) {
  EXPECT_EQ(reloader_->status().reloads, 0u);
  EXPECT_THAT(reloader_->status().files, ElementsAre(file_));
  Write(Text(3));
  UntilReloads(1);
  EXPECT_EQ(attempts(), 3);
  EXPECT_EQ(reloader_->status().snapshot->policies.at(0).retry.max_attempts, 3);
  EXPECT_THAT(reloader_->status().faults, testing::IsEmpty());
}

class StandardInputTest : public ReloaderTest {
 protected:
  StandardInputTest() : ReloaderTest("drain: {timeout: 7s}\n") {}
};

TEST_F(StandardInputTest, StandardInputKeepsItsTextWhileFilesChange) {
  Write(Text(3));
  UntilReloads(1);
  raise(SIGHUP);
  UntilReloads(2);
  EXPECT_EQ(attempts(), 3);
  EXPECT_EQ(reloader_->status().snapshot->drain_timeout, absl::Seconds(7));
  EXPECT_THAT(reloader_->status().files, ElementsAre(file_, "-"));
}

TEST_F(ReloaderTest, ASignalCountsAsAReloadThoughNothingIsThereToTakeOver) {
  const absl::Time loaded = reloader_->status().loaded;
  raise(SIGHUP);
  UntilReloads(1);
  EXPECT_EQ(asked(), 0);
  EXPECT_GT(reloader_->status().loaded, loaded);
}

TEST_F(ReloaderTest, AFileWithAFaultChangesNothingUntilItIsAsBefore) {
  Write("policies: [{name: default, retry: {max_atempts: 3}}]\n");
  UntilRefused(1);
  EXPECT_EQ(asked(), 0);
  EXPECT_THAT(reloader_->status().faults, ElementsAre(HasSubstr("did you mean max_attempts?")));
  Write(Text(2));
  UntilReloads(1);
  EXPECT_EQ(asked(), 0);
  EXPECT_EQ(reloader_->status().refused, 1u);
  EXPECT_THAT(reloader_->status().faults, testing::IsEmpty());
}

TEST_F(ReloaderTest, AnEmptyFileChangesNothing) {
  Write("");
  UntilRefused(1);
  EXPECT_EQ(asked(), 0);
  EXPECT_THAT(reloader_->status().faults,
              ElementsAre(file_ + ": is empty; for the defaults say {}"));
  Write("{}\n");
  UntilReloads(1);
  EXPECT_EQ(asked(), 1);
}

TEST_F(ReloaderTest, WhatCannotBeTakenOverIsRefusedAndTriedAgain) {
  Answer(absl::StatusCode::kFailedPrecondition);
  Write(Text(3));
  UntilRefused(1);
  EXPECT_THAT(reloader_->status().faults, ElementsAre("the port is busy"));
  EXPECT_EQ(attempts(), 2);
  Answer();
  raise(SIGHUP);
  UntilReloads(1);
  EXPECT_EQ(attempts(), 3);
}

TEST_F(ReloaderTest, WhatIsRefusedIsReadAgainThoughNoFileChanges) {
  Answer(absl::StatusCode::kFailedPrecondition);
  Write(Text(3));
  UntilRefused(1);
  Until([&] { return asked() == 2; });
  Answer();
  UntilReloads(1);
  EXPECT_EQ(attempts(), 3);
  EXPECT_EQ(reloader_->status().refused, 1u);
}

TEST_F(ReloaderTest, OneThatIsAskedForDuringAnotherFollowsIt) {
  Hold();
  Write(Text(3));
  Until([&] { return asked() == 1; });
  Write(Text(4));
  raise(SIGHUP);
  raise(SIGHUP);
  bool turned = false;
  loop_.Post([&] { turned = true; });
  Until([&] { return turned; });
  EXPECT_EQ(asked(), 1);
  EXPECT_EQ(attempts(), 2);
  Answer();
  Until([&] { return attempts() == 4; });
  EXPECT_EQ(asked(), 2);
}

TEST_F(ReloaderTest, StopWaitsForTheReloadThatIsUnderWayAndBeginsNoOther) {
  Hold();
  Write(Text(3));
  Until([&] { return asked() == 1; });
  Write(Text(4));
  raise(SIGHUP);
  bool turned = false;
  loop_.Post([&] { turned = true; });
  Until([&] { return turned; });
  // As a sidecar does whose loops have ended.
  std::thread ending([&] { Answer(absl::StatusCode::kCancelled); });
  reloader_->Stop();
  ending.join();
  EXPECT_EQ(asked(), 1);
  EXPECT_EQ(reloader_->status().reloads, 0u);
  EXPECT_EQ(reloader_->status().refused, 0u);
}

TEST_F(ReloaderTest, TheStatusIsReadWhileFilesChange) {
  std::atomic<bool> done = false;
  std::thread reading([&] {
    while (!done) EXPECT_NE(reloader_->status().snapshot, nullptr);
  });
  for (int i = 1; i <= 5; ++i) {
    Write(Text(2 + i));
    raise(SIGHUP);
    Until([&] { return attempts() == 2 + i; });
  }
  done = true;
  reading.join();
}

}  // namespace
}  // namespace levee
