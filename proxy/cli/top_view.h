// SPDX-License-Identifier: Apache-2.0
// What `levee top` shows of a sidecar. Pure: from answers of its admin port to lines.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "levee/admin/v1/admin.pb.h"
#include "net/terminal.h"

namespace levee {

// Why there is no answer now, and for how long; an empty reason: there is one.
struct Silence {
  std::string reason;
  absl::Duration lasts;
};

// The answers so far. Texts of callers and services are shown without control characters, which
// could move the cursor of a terminal or worse.
class TopView {
 public:
  // `address`: of the admin port, as the user gave it.
  explicit TopView(std::string address) : address_(std::move(address)) {}

  // The second after which additions are asked for next; 0: for all.
  uint32_t since() const { return state_.next(); }

  // Takes in an answer to since(). Returns false if it is of another process than the answers
  // before: these are forgotten, and all has to be asked for.
  bool Take(admin::v1::State answer);

  // Returns the lines of a whole screen, fewer than `size` has rows and none wider than its
  // columns.
  std::vector<std::string> Frame(const net::TerminalSize& size, const Silence& silence) const;

  // Returns one line: the upstream that deserves most attention, and its verdict.
  std::string Line(const Silence& silence) const;

 private:
  // The worst first, of equal ones the busiest.
  std::vector<const admin::v1::Upstream*> ByUrgency() const;

  std::string Head() const;
  std::vector<std::string> Verdicts(size_t columns, const Silence& silence) const;

  const std::string address_;
  admin::v1::State state_;             // the newest, without its calls
  std::deque<admin::v1::Call> calls_;  // the oldest first
};

}  // namespace levee
