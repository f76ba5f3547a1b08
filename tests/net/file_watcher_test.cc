// SPDX-License-Identifier: Apache-2.0
// Changes of files, in all the ways in which tools make them.
#include "net/file_watcher.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "virtual/jumping_time.h"

namespace levee::net {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

class FileWatcherTest : public testing::Test, private TurnHandler {
 protected:
  FileWatcherTest() {
    std::string name = testing::TempDir() + "levee-XXXXXX";
    directory_ = mkdtemp(name.data());
    loop_.SetTurnHandler(this);
  }
  ~FileWatcherTest() override { fs::remove_all(directory_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
  }

  // Turns until a change is reported, which takes as long as a row of changes may last.
  bool Reported() {
    const int before = reports_;
    give_up_ = ReadClock() + FileWatcher::kLongest;
    waiting_ = true;
    loop_.Run();
    return reports_ == before + 1;
  }

  // Whether nothing is reported of `change`.
  template <typename Change>
  bool Unnoticed(const Change& change) {
    const int before = reports_;
    change();
    give_up_ = ReadClock() + 2 * FileWatcher::kSettled;  // Longer than a report may take.
    waiting_ = true;
    loop_.Run();
    return reports_ == before;
  }

  JumpingTime time_;  // It begins before the loop.
  EventLoop loop_;
  fs::path directory_;
  int reports_ = 0;
  FileWatcher watcher_{loop_, [this] {
                         ++reports_;
                         loop_.Stop();
                       }};

 private:
  Instant OnTurnEnd(Instant now) override {
    if (waiting_ && now >= give_up_) {
      waiting_ = false;
      loop_.Stop();
    }
    return waiting_ ? give_up_ : Instant::Infinite();
  }

  bool waiting_ = false;
  Instant give_up_;
};

TEST_F(FileWatcherTest, AFileWrittenInPlaceIsReported) {
  Write("levee.yaml", "a");
  EXPECT_THAT(watcher_.Watch({directory_ / "levee.yaml"}), IsEmpty());
  Write("levee.yaml", "b");
  EXPECT_TRUE(Reported());
}

TEST_F(FileWatcherTest, AFilePutInItsPlaceIsReported) {
  Write("levee.yaml", "a");
  watcher_.Watch({directory_ / "levee.yaml"});
  for (const char* text : {"b", "c"}) {
    Write("levee.yaml.tmp", text);
    fs::rename(directory_ / "levee.yaml.tmp", directory_ / "levee.yaml");
    EXPECT_TRUE(Reported());
  }
}

TEST_F(FileWatcherTest, AFileThatComesLaterIsReported) {
  watcher_.Watch({directory_ / "levee.yaml"});
  Write("levee.yaml", "a");
  EXPECT_TRUE(Reported());
  fs::remove(directory_ / "levee.yaml");
  EXPECT_TRUE(Reported());
}

TEST_F(FileWatcherTest, AFileInADirectoryThatComesLaterIsReported) {
  watcher_.Watch({directory_ / "conf" / "levee.yaml"});
  fs::create_directory(directory_ / "conf");
  EXPECT_TRUE(Reported());
  Write("conf/levee.yaml", "a");
  EXPECT_TRUE(Reported());
}

// Changes files as kubelet changes a mounted ConfigMap.
TEST_F(FileWatcherTest, TheLinkSwapOfAConfigMapIsReportedEachTime) {
  fs::create_directory(directory_ / "..1");
  Write("..1/levee.yaml", "a");
  fs::create_symlink("..1", directory_ / "..data");
  fs::create_symlink("..data/levee.yaml", directory_ / "levee.yaml");
  watcher_.Watch({directory_ / "levee.yaml"});
  for (int version = 2; version < 5; ++version) {
    const std::string name = ".." + std::to_string(version);
    fs::create_directory(directory_ / name);
    Write(name + "/levee.yaml", name);
    fs::create_symlink(name, directory_ / "..data_tmp");
    fs::rename(directory_ / "..data_tmp", directory_ / "..data");
    fs::remove_all(directory_ / (".." + std::to_string(version - 1)));
    EXPECT_TRUE(Reported()) << version;
  }
}

TEST_F(FileWatcherTest, AWriteBehindALinkToAnotherDirectoryIsReported) {
  fs::create_directory(directory_ / "real");
  Write("real/levee.yaml", "a");
  fs::create_symlink(directory_ / "real", directory_ / "link");
  watcher_.Watch({directory_ / "link" / "levee.yaml"});
  Write("real/levee.yaml", "b");
  EXPECT_TRUE(Reported());
}

TEST_F(FileWatcherTest, ADirectoryThatIsReplacedIsWatchedAgain) {
  fs::create_directory(directory_ / "conf");
  Write("conf/levee.yaml", "a");
  watcher_.Watch({directory_ / "conf" / "levee.yaml"});
  fs::remove_all(directory_ / "conf");
  EXPECT_TRUE(Reported());
  fs::create_directory(directory_ / "conf");
  EXPECT_TRUE(Reported());
  Write("conf/levee.yaml", "b");
  EXPECT_TRUE(Reported());
}

TEST_F(FileWatcherTest, ChangesThatNobodyTellsOfAreFoundByLookingAtTheFiles) {
  fs::create_directories(directory_ / "above/conf");
  Write("above/conf/levee.yaml", "a");
  FileWatcher watcher(
      loop_,
      [this] {
        ++reports_;
        loop_.Stop();
      },
      absl::Milliseconds(20));
  watcher.Watch({directory_ / "above/conf/levee.yaml"});
  EXPECT_TRUE(Unnoticed([] {}));
  fs::rename(directory_ / "above", directory_ / "old");
  fs::create_directories(directory_ / "above/conf");
  Write("above/conf/levee.yaml", "b");
  EXPECT_TRUE(Reported());
}

TEST_F(FileWatcherTest, OtherFilesOfTheDirectoryAreNoConcern) {
  Write("levee.yaml", "a");
  watcher_.Watch({directory_ / "levee.yaml"});
  EXPECT_TRUE(Unnoticed([&] { Write("calls.json", "a line of a log that is near"); }));
}

TEST_F(FileWatcherTest, ARowOfChangesIsReportedOnce) {
  Write("levee.yaml", "a");
  Write("methods.pb", "a");
  watcher_.Watch({directory_ / "levee.yaml", directory_ / "methods.pb"});
  for (int i = 0; i < 10; ++i) Write(i % 2 == 0 ? "levee.yaml" : "methods.pb", std::to_string(i));
  EXPECT_TRUE(Reported());
  EXPECT_TRUE(Unnoticed([] {}));
}

TEST_F(FileWatcherTest, FilesThatAreNotWatchedAnyMoreAreNoConcern) {
  Write("a.yaml", "a");
  Write("b.yaml", "b");
  watcher_.Watch({directory_ / "a.yaml"});
  watcher_.Watch({directory_ / "b.yaml"});
  EXPECT_TRUE(Unnoticed([&] { Write("a.yaml", "c"); }));
  Write("b.yaml", "c");
  EXPECT_TRUE(Reported());
}

TEST_F(FileWatcherTest, ACircleOfLinksEnds) {
  fs::create_symlink("b", directory_ / "a");
  fs::create_symlink("a", directory_ / "b");
  EXPECT_THAT(watcher_.Watch({directory_ / "a"}), IsEmpty());
  fs::remove(directory_ / "b");
  EXPECT_TRUE(Reported());
}

}  // namespace
}  // namespace levee::net
