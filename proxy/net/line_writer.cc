// SPDX-License-Identifier: Apache-2.0
#include "net/line_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "net/event_loop.h"

namespace levee::net {
namespace {

// Lines are gathered for this long, so that many of them cost one wakeup and few writes ...
constexpr std::chrono::milliseconds kGather{10};
// ... unless this many bytes have come already.
constexpr size_t kEnoughBytes = size_t{256} << 10;

// The memory that is kept for the next lines after a burst.
constexpr size_t kKeptBytes = size_t{256} << 10;

// A pipe that is writable takes this many bytes at once, and in one piece even if other processes
// write to it too.
constexpr size_t kPieceBytes = PIPE_BUF;

// A writer that waits for its reader checks this often whether it must stop.
constexpr int kPollMs = 50;

std::string Reason(int error) { return std::generic_category().message(error); }

// The descriptor does not block because of FIFOs: without a reader the open fails, and a full FIFO
// can be waited for.
int OpenForAppend(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
              0644);
}

// Opens anew the pipe or the terminal that an output goes to, so that a write never blocks: others
// have the output, too, and may be faster to fill it. Returns -1 where that is not possible or not
// needed; a write that comes when there is room blocks then only if others are faster.
int OpenWithoutBlocking(int output) {
  struct stat there {};
  if (fstat(output, &there) != 0 || (!S_ISFIFO(there.st_mode) && !S_ISCHR(there.st_mode)))
    return -1;
  const std::string path = absl::StrCat("/proc/self/fd/", output);
  return open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool IsSameFile(int fd, const std::string& path) {
  struct stat open_file {};
  struct stat file_there {};
  return fstat(fd, &open_file) == 0 && stat(path.c_str(), &file_there) == 0 &&
         open_file.st_dev == file_there.st_dev && open_file.st_ino == file_there.st_ino;
}

// Returns how much of `lines` goes into the next write: whole lines, if one fits.
size_t NextPiece(std::string_view lines) {
  if (lines.size() <= kPieceBytes) return lines.size();
  const size_t end = lines.rfind('\n', kPieceBytes - 1);
  return end == std::string_view::npos ? kPieceBytes : end + 1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LineWriter>> LineWriter::ToFile(const std::string& path,
                                                               FaultHandler on_fault) {
  const int fd = OpenForAppend(path);
  if (fd < 0) {
    return absl::FailedPreconditionError(absl::StrCat("cannot open ", path, ": ", Reason(errno)));
  }
  return std::unique_ptr<LineWriter>(new LineWriter(fd, path, std::move(on_fault)));
}

std::unique_ptr<LineWriter> LineWriter::ToStandardOutput(FaultHandler on_fault) {
  return ToOutput(STDOUT_FILENO, std::move(on_fault));
}

std::unique_ptr<LineWriter> LineWriter::ToStandardError() {
  return ToOutput(STDERR_FILENO, [](const std::string&) {});
}

std::unique_ptr<LineWriter> LineWriter::ToOutput(int output, FaultHandler on_fault) {
  const int own = OpenWithoutBlocking(output);
  return std::unique_ptr<LineWriter>(
      new LineWriter(own < 0 ? output : own, "", std::move(on_fault)));
}

LineWriter::LineWriter(int fd, std::string path, FaultHandler on_fault)
    : path_(std::move(path)),
      owned_(fd != STDOUT_FILENO && fd != STDERR_FILENO),
      on_fault_(std::move(on_fault)),
      fd_(fd),
      give_up_at_nanos_(Instant::Infinite().nanos()) {
  // The new thread takes no signal. Signals are for the loop's thread, and a pipe without reader or
  // a full disk must be an error, not the end of the process.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LineWriter::~LineWriter() {
  give_up_at_nanos_ = (ReadClock() + kStopPatience).nanos();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
  if (owned_) close(fd_);
}

bool LineWriter::Write(std::string_view line) {
  bool wake;
  {
    const std::lock_guard lock(mutex_);
    const size_t before = queue_.size();
    if (line.size() > kMaxQueuedBytes - before) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    queue_.append(line);
    wake = before == 0 || (before < kEnoughBytes && queue_.size() >= kEnoughBytes);
  }
  if (wake) changed_.notify_one();
  return true;
}

void LineWriter::Run() {
  std::string lines;
  while (Take(lines)) {
    if (!path_.empty()) ReopenIfMoved();
    WriteOut(lines);
    lines.clear();
    if (lines.capacity() > kKeptBytes) lines = std::string();
  }
}

// Waits for lines and swaps them into `lines`. Returns false if the thread must stop and no lines
// are left.
bool LineWriter::Take(std::string& lines) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
  changed_.wait_for(lock, kGather, [&] { return stopping_ || queue_.size() >= kEnoughBytes; });
  lines.swap(queue_);
  return !lines.empty();
}

void LineWriter::ReopenIfMoved() {
  if (IsSameFile(fd_, path_)) return;
  const int fd = OpenForAppend(path_);
  if (fd < 0) {
    Report(absl::StrCat("cannot open ", path_, " anew: ", Reason(errno)));
    return;
  }
  close(fd_);
  fd_ = fd;
  reported_ = torn_ = false;
}

void LineWriter::WriteOut(std::string_view lines) {
  std::string fault;
  // If the rest of a line was lost, the next line must not continue it.
  if (torn_ && !Put("\n", fault).empty()) {
    Lose(lines, fault);
    return;
  }
  torn_ = false;
  const std::string_view rest = Put(lines, fault);
  if (rest.empty()) return;
  const size_t written = lines.size() - rest.size();
  torn_ = written > 0 && lines[written - 1] != '\n';
  Lose(rest, fault);
}

// Returns the part that could not be written; then `fault` says why.
std::string_view LineWriter::Put(std::string_view text, std::string& fault) {
  while (!text.empty()) {
    if (!WaitWritable()) {
      fault = "nobody reads it";
      return text;
    }
    const ssize_t size = write(fd_, text.data(), NextPiece(text));
    if (size >= 0) {
      text.remove_prefix(static_cast<size_t>(size));
    } else if (errno != EAGAIN) {  // Others who write to the pipe may have been faster.
      fault = Reason(errno);
      return text;
    }
  }
  return text;
}

// Returns false if the writer must give up.
bool LineWriter::WaitWritable() {
  pollfd wait = {.fd = fd_, .events = POLLOUT, .revents = 0};
  do {
    if (ReadClock().nanos() >= give_up_at_nanos_) return false;
  } while (poll(&wait, 1, kPollMs) == 0);
  return true;
}

void LineWriter::Lose(std::string_view lines, const std::string& why) {
  Report(absl::StrCat("cannot write ", path_.empty() ? "standard output" : path_, ": ", why));
  lost_.fetch_add(static_cast<uint64_t>(std::count(lines.begin(), lines.end(), '\n')),
                  std::memory_order_relaxed);
}

void LineWriter::Report(const std::string& fault) {
  if (!std::exchange(reported_, true)) on_fault_(fault);
}

}  // namespace levee::net
