// SPDX-License-Identifier: Apache-2.0
// Lines reach their file, and nothing that can happen to it makes a caller wait.
#include "net/line_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace levee::net {
namespace {

class LineWriterTest : public testing::Test {
 protected:
  LineWriterTest() {
    char name[] = "/tmp/levee-XXXXXX";
    directory_ = mkdtemp(name);
    path_ = directory_ + "/log";
  }
  ~LineWriterTest() override {
    for (const char* file : {"/log", "/log.1"}) unlink((directory_ + file).c_str());
    rmdir(directory_.c_str());
  }

  std::unique_ptr<LineWriter> Open(const std::string& path) {
    auto writer = LineWriter::ToFile(path, [this](const std::string& fault) {
      const std::lock_guard lock(mutex_);
      faults_.push_back(fault);
    });
    EXPECT_TRUE(writer.ok()) << writer.status();
    return writer.ok() ? *std::move(writer) : nullptr;
  }

  static std::string Content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Returns once the condition holds.
  template <typename Condition>
  static void Await(Condition condition) {
    while (!condition()) std::this_thread::yield();
  }

  std::vector<std::string> faults() {
    const std::lock_guard lock(mutex_);
    return faults_;
  }

  std::string directory_;
  std::string path_;
  std::mutex mutex_;
  std::vector<std::string> faults_;
};

TEST_F(LineWriterTest, WhatWasTakenIsThereAfterTheEnd) {
  {
    const auto writer = Open(path_);
    EXPECT_TRUE(writer->Write("one\n"));
    EXPECT_TRUE(writer->Write("two\n"));
  }
  EXPECT_EQ(Content(path_), "one\ntwo\n");
}

TEST_F(LineWriterTest, LinesAreWrittenWhileItRuns) {
  const auto writer = Open(path_);
  writer->Write("one\n");
  Await([&] { return Content(path_) == "one\n"; });
  writer->Write("two\n");
  Await([&] { return Content(path_) == "one\ntwo\n"; });
}

TEST_F(LineWriterTest, AFileThatIsThereIsContinued) {
  std::ofstream(path_) << "before\n";
  Open(path_)->Write("after\n");
  EXPECT_EQ(Content(path_), "before\nafter\n");
}

TEST_F(LineWriterTest, LinesOfSeveralThreadsStayWhole) {
  constexpr int kThreads = 4, kLines = 2000;
  {
    const auto writer = Open(path_);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, letter = static_cast<char>('a' + i)] {
        for (int n = 0; n < kLines; ++n) writer->Write(std::string(100, letter) + "\n");
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(writer->lost(), 0u);
  }
  std::ifstream file(path_);
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    EXPECT_EQ(line, std::string(100, line[0]));
  }
  EXPECT_EQ(lines, kThreads * kLines);
}

TEST_F(LineWriterTest, ALineLongerThanAPieceIsWrittenWhole) {
  const std::string line = std::string(100'000, 'x') + "\n";
  Open(path_)->Write(line);
  EXPECT_EQ(Content(path_), line);
}

TEST_F(LineWriterTest, AfterARenameLinesGoToANewFile) {
  const auto writer = Open(path_);
  writer->Write("one\n");
  Await([&] { return Content(path_) == "one\n"; });
  rename(path_.c_str(), (path_ + ".1").c_str());
  writer->Write("two\n");
  Await([&] { return Content(path_) == "two\n"; });
  EXPECT_EQ(Content(path_ + ".1"), "one\n");
}

TEST_F(LineWriterTest, AfterARenameLinesGoToTheFileThatTookThePlace) {
  const auto writer = Open(path_);
  writer->Write("one\n");
  Await([&] { return Content(path_) == "one\n"; });
  rename(path_.c_str(), (path_ + ".1").c_str());
  std::ofstream(path_) << "made by others\n";
  writer->Write("two\n");
  Await([&] { return Content(path_) == "made by others\ntwo\n"; });
}

TEST_F(LineWriterTest, AFileThatWasRemovedIsMadeAgain) {
  const auto writer = Open(path_);
  writer->Write("one\n");
  Await([&] { return Content(path_) == "one\n"; });
  unlink(path_.c_str());
  writer->Write("two\n");
  Await([&] { return Content(path_) == "two\n"; });
}

TEST_F(LineWriterTest, WhatCannotBeOpenedAnewStaysWhereItWas) {
  {
    const auto writer = Open(path_);
    writer->Write("one\n");
    Await([&] { return Content(path_) == "one\n"; });
    rename(path_.c_str(), (path_ + ".1").c_str());
    mkdir(path_.c_str(), 0700);
    writer->Write("two\n");
  }
  rmdir(path_.c_str());
  EXPECT_EQ(Content(path_ + ".1"), "one\ntwo\n");
  EXPECT_EQ(faults(), std::vector<std::string>{"cannot open " + path_ + " anew: Is a directory"});
}

TEST_F(LineWriterTest, AFullDiskIsReportedOnceAndEachLineCounted) {
  const auto writer = Open("/dev/full");
  EXPECT_TRUE(writer->Write("one\n"));
  Await([&] { return writer->lost() == 1; });
  EXPECT_TRUE(writer->Write("two\n"));
  EXPECT_TRUE(writer->Write("three\n"));
  Await([&] { return writer->lost() == 3; });
  EXPECT_EQ(faults(), std::vector<std::string>{"cannot write /dev/full: No space left on device"});
}

// The largest file that this process may write, for as long as it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(LineWriterTest, ALineThatWasTornDoesNotRunIntoTheNextOne) {
  const auto writer = Open(path_);
  {
    const FileSizeLimit limit(6);
    writer->Write("one\n");
    Await([&] { return Content(path_) == "one\n"; });
    writer->Write("two\n");
    Await([&] { return writer->lost() == 1; });
    writer->Write("three\n");
    Await([&] { return writer->lost() == 2; });
  }
  writer->Write("four\n");
  Await([&] { return Content(path_) == "one\ntw\nfour\n"; });
  EXPECT_EQ(writer->lost(), 2u);
}

TEST_F(LineWriterTest, ALineThatWasTornLeavesNoTraceInTheNextFile) {
  const auto writer = Open(path_);
  {
    const FileSizeLimit limit(2);
    writer->Write("one\n");
    Await([&] { return writer->lost() == 1; });
  }
  rename(path_.c_str(), (path_ + ".1").c_str());
  writer->Write("two\n");
  Await([&] { return Content(path_) == "two\n"; });
}

TEST_F(LineWriterTest, AFileThatCannotBeOpenedIsAnError) {
  const auto nowhere = LineWriter::ToFile(directory_ + "/no/log", nullptr);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.status().message(),
            "cannot open " + directory_ + "/no/log: No such file or directory");
  const auto folder = LineWriter::ToFile(directory_, nullptr);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.status().message(), "cannot open " + directory_ + ": Is a directory");
}

// A writer into a FIFO, whose reader the test is.
class FifoWriterTest : public LineWriterTest {
 protected:
  FifoWriterTest() {
    mkfifo(path_.c_str(), 0600);
    reader_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    writer_ = Open(path_);
  }
  ~FifoWriterTest() override { close(reader_); }

  // Offers lines until `refused` of them found no room. Returns those that did.
  std::vector<std::string> Fill(int refused) {
    std::vector<std::string> taken;
    for (int n = 0; refused > 0; ++n) {
      const std::string line = std::to_string(n) + std::string(1000, '.') + "\n";
      if (writer_->Write(line)) {
        taken.push_back(line);
      } else {
        --refused;
      }
    }
    return taken;
  }

  // Waits for so many bytes, or for the end.
  std::string Read(size_t bytes) {
    std::string text;
    std::array<char, 65536> buffer;
    pollfd wait = {.fd = reader_, .events = POLLIN, .revents = 0};
    while (text.size() < bytes && poll(&wait, 1, -1) == 1) {
      const ssize_t size = read(reader_, buffer.data(), buffer.size());
      if (size <= 0) break;
      text.append(buffer.data(), static_cast<size_t>(size));
    }
    return text;
  }

  int reader_;
  std::unique_ptr<LineWriter> writer_;
};

TEST_F(FifoWriterTest, WhatAReaderThatIsTooSlowCannotTakeIsRefusedAndCounted) {
  std::string taken;
  for (const std::string& line : Fill(3)) taken += line;
  EXPECT_EQ(writer_->lost(), 3u);
  EXPECT_GE(taken.size(), LineWriter::kMaxQueuedBytes - 1100);
  EXPECT_LE(taken.size(), 2 * LineWriter::kMaxQueuedBytes + 1'000'000);
  EXPECT_EQ(Read(taken.size()), taken);
  EXPECT_EQ(writer_->lost(), 3u);
  EXPECT_TRUE(faults().empty());
}

TEST_F(FifoWriterTest, ThereIsRoomAgainOnceTheReaderReads) {
  size_t taken = 0;
  for (const std::string& line : Fill(1)) taken += line.size();
  Read(taken);
  Await([&] { return writer_->Write("more\n"); });
  EXPECT_EQ(Read(5), "more\n");
}

TEST_F(FifoWriterTest, AReaderThatNeverReadsDoesNotKeepItFromEnding) {
  Fill(1);
  writer_.reset();
  EXPECT_EQ(faults(), std::vector<std::string>{"cannot write " + path_ + ": nobody reads it"});
}

TEST_F(FifoWriterTest, AReaderThatIsGoneIsReportedAndEndsNothing) {
  close(reader_);
  writer_->Write("one\n");
  Await([&] { return writer_->lost() == 1; });
  EXPECT_EQ(faults(), std::vector<std::string>{"cannot write " + path_ + ": Broken pipe"});
  reader_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  writer_->Write("two\n");
  EXPECT_EQ(Read(4), "two\n");
}

TEST(LineWriterToOutput, WritesToStandardOutputAndLeavesItOpen) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  std::fflush(stdout);
  const int output = dup(STDOUT_FILENO);
  dup2(pipe_ends[1], STDOUT_FILENO);
  LineWriter::ToStandardOutput(nullptr)->Write("one\n");
  const bool open_still = write(STDOUT_FILENO, "two\n", 4) == 4;
  dup2(output, STDOUT_FILENO);
  close(output);
  close(pipe_ends[1]);
  std::array<char, 16> buffer;
  std::string text;
  for (ssize_t size; (size = read(pipe_ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(size));
  }
  close(pipe_ends[0]);
  EXPECT_TRUE(open_still);
  EXPECT_EQ(text, "one\ntwo\n");
}

TEST(LineWriterToOutput, NobodyNeedsToReadStandardError) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  std::fflush(stderr);
  const int errors = dup(STDERR_FILENO);
  dup2(pipe_ends[1], STDERR_FILENO);
  constexpr int kLines = 10'000;
  const std::string line = std::string(999, '.') + "\n";
  int taken = 0;
  uint64_t lost = 0;
  {
    const auto writer = LineWriter::ToStandardError();
    for (int i = 0; i < kLines; ++i) taken += writer->Write(line) ? 1 : 0;
    lost = writer->lost();
  }
  dup2(errors, STDERR_FILENO);
  close(errors);
  close(pipe_ends[1]);
  size_t bytes = 0;
  std::array<char, 4096> buffer;
  for (ssize_t size; (size = read(pipe_ends[0], buffer.data(), buffer.size())) > 0;) {
    bytes += static_cast<size_t>(size);
  }
  close(pipe_ends[0]);
  EXPECT_EQ(lost, static_cast<uint64_t>(kLines - taken));
  EXPECT_GE(lost, 1u);
  EXPECT_LT(taken * line.size(), 2 * LineWriter::kMaxQueuedBytes + 100'000);
  EXPECT_GT(bytes, 0u);
}

}  // namespace
}  // namespace levee::net
