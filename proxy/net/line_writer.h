// SPDX-License-Identifier: Apache-2.0
// Lines of text on their way to a file, or to an output of the process, written by a thread of
// their own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/instant.h"

namespace levee::net {

// Takes lines from any thread and never makes it wait. Lines that a slow, full or broken file
// cannot take are lost, and counted.
class LineWriter {
 public:
  // Called from the writer's thread, with a sentence without its full stop, when lines begin to get
  // lost. Called at most once per opened file, since a full or missing file mostly stays so for a
  // while.
  using FaultHandler = std::function<void(const std::string& fault)>;

  // Appends to the file `path` and creates it if there is none. If it has been renamed or removed
  // since (log rotation), the next lines go to a new file; while that cannot be opened, they go to
  // the old one. Errors contain the system's reason.
  static absl::StatusOr<std::unique_ptr<LineWriter>> ToFile(const std::string& path,
                                                            FaultHandler on_fault);

  static std::unique_ptr<LineWriter> ToStandardOutput(FaultHandler on_fault);
  // Tells nobody when lines get lost: there is no other place to say so.
  static std::unique_ptr<LineWriter> ToStandardError();

  // Writes the lines taken so far. Waits at most kStopPatience for a reader that does not read.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Takes a copy of `line`, which must end with '\n' and have no other. Returns false if there is
  // no room: then the line is lost. Any thread.
  bool Write(std::string_view line);

  // Lines that got lost. Any thread.
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

  // The bound on the bytes that wait to be written, all lines together.
  static constexpr size_t kMaxQueuedBytes = size_t{4} << 20;

  static constexpr absl::Duration kStopPatience = absl::Milliseconds(500);

 private:
  // An empty `path`: the writer writes to this output of the process, and opens no other file.
  LineWriter(int fd, std::string path, FaultHandler on_fault);
  static std::unique_ptr<LineWriter> ToOutput(int output, FaultHandler on_fault);

  // The functions below run on the writer's thread.
  void Run();
  bool Take(std::string& lines);
  void ReopenIfMoved();
  void WriteOut(std::string_view lines);
  std::string_view Put(std::string_view text, std::string& fault);
  bool WaitWritable();
  void Lose(std::string_view lines, const std::string& why);
  void Report(const std::string& fault);

  const std::string path_;
  const bool owned_;  // the descriptor, which is closed at the end
  const FaultHandler on_fault_;
  int fd_;
  bool reported_ = false;  // for this descriptor
  bool torn_ = false;      // the last line written is only a part of one

  std::atomic<uint64_t> lost_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string queue_;
  bool stopping_ = false;
  std::atomic<int64_t> give_up_at_nanos_;

  std::thread thread_;  // the last member, since it uses the others
};

}  // namespace levee::net
