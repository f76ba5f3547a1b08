// SPDX-License-Identifier: Apache-2.0
#include "ledger/access_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace levee::ledger {
namespace {

constexpr int kPipeBytes = 1 << 20;

// The text behind `name` up to `end`. Names cannot occur inside of strings, where quotes are
// escaped.
std::string_view Member(std::string_view line, std::string_view name, char end) {
  const size_t at = line.rfind(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + name.size());
  return rest.substr(0, rest.find(end));
}

template <typename Number>
Number Parse(std::string_view text, int base = 10) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

int CountOf(std::string_view text, std::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

std::string TraceparentOf(uint64_t id) {
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), "00-%032llx-0000000000000001-01",
                                 static_cast<unsigned long long>(id));
  return {text.data(), static_cast<size_t>(size)};
}

LoggedCall ParseLogLine(std::string_view line) {
  LoggedCall call;
  const std::string_view authority = Member(line, R"("authority":")", '"');
  call.id = authority.starts_with(kCallAuthority)
                ? Parse<uint64_t>(authority.substr(kCallAuthority.size()))
                : Parse<uint64_t>(Member(line, R"("trace_id":")", '"'), 16);
  const std::string_view attempts = Member(line, R"("attempts":[)", ']');
  call.attempts = CountOf(attempts, R"({"n":)");
  call.transparent = CountOf(attempts, R"("trigger":"refused")");
  call.answer_bytes = Parse<uint64_t>(Member(line, R"("response_bytes":)", ','));
  // The first one: attempts have codes as well.
  constexpr std::string_view kCode = R"(,"code":")";
  if (const size_t at = line.find(kCode); at != std::string_view::npos) {
    const std::string_view rest = line.substr(at + kCode.size());
    call.code = rest.substr(0, rest.find('"'));
  }
  return call;
}

AccessLog::AccessLog(Loop& loop, Book& book) : loop_(loop), book_(book) {
  std::string folder = "/tmp/levee-ledger-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) std::abort();
  path_ = folder + "/access-log";
  mkfifo(path_.c_str(), 0600);
  fd_ = open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  fcntl(fd_, F_SETPIPE_SZ, kPipeBytes);
  loop_.Watch(fd_, *this, EPOLLIN);
}

AccessLog::~AccessLog() {
  close(fd_);
  unlink(path_.c_str());
  rmdir(path_.substr(0, path_.rfind('/')).c_str());
}

void AccessLog::OnReady(uint32_t) {
  static std::array<char, kPipeBytes> buffer;
  const ssize_t size = read(fd_, buffer.data(), buffer.size());
  if (size <= 0) return;
  unread_.append(buffer.data(), static_cast<size_t>(size));
  size_t done = 0;
  for (size_t end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n', done)) {
    book_.Logged(ParseLogLine(std::string_view(unread_).substr(done, end - done)), loop_.now());
    done = end + 1;
  }
  unread_.erase(0, done);
}

}  // namespace levee::ledger
