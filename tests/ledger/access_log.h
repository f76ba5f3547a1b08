// SPDX-License-Identifier: Apache-2.0
// Reads the sidecar's access log as it is written.
#pragma once

#include <string>
#include <string_view>

#include "ledger/book.h"
#include "ledger/loop.h"

namespace levee::ledger {

// The access log names a call by its trace id, which is its number, or, if it shares the trace of
// another one, by its authority, which is this and its number.
inline constexpr std::string_view kCallAuthority = "call-";
std::string TraceparentOf(uint64_t id);

// The content of a line; the id is 0 if it is none that can be understood.
LoggedCall ParseLogLine(std::string_view line);

// Owns a FIFO to write the log to. Keeps it open for writing, too, so that it never ends.
class AccessLog final : private Ready {
 public:
  AccessLog(Loop& loop, Book& book);
  ~AccessLog() override;
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  const std::string& path() const { return path_; }

 private:
  void OnReady(uint32_t events) override;

  Loop& loop_;
  Book& book_;
  std::string path_;
  int fd_;
  std::string unread_;
};

}  // namespace levee::ledger
