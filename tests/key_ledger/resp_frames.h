// SPDX-License-Identifier: Apache-2.0
// Where the messages of Redis' protocol end in a stream of bytes, of either direction.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace levee::ledger {

class RespFrames {
 public:
  // Takes the next byte; returns whether a message ends with it.
  bool Add(char byte) {
    if (skip_ > 0) return --skip_ == 0 && EndItem();
    line_.push_back(byte);
    return byte == '\n' && EndLine();
  }

  // Whether the next byte is the first of a message.
  bool at_start() const { return items_ == 0 && skip_ == 0 && line_.empty(); }

 private:
  bool EndLine() {
    const char kind = line_[0];
    const long number = std::strtol(line_.c_str() + 1, nullptr, 10);
    line_.clear();
    if (items_ == 0) items_ = 1;
    if (kind == '*') {
      if (number > 0) items_ += number;
      return EndItem();
    }
    if (kind != '$' || number < 0) return EndItem();
    skip_ = static_cast<uint64_t>(number) + 2;
    return false;
  }
  bool EndItem() { return --items_ == 0; }

  std::string line_;
  uint64_t skip_ = 0;  // bytes of a text that are still to come
  long items_ = 0;     // of the message that are still to come
};

}  // namespace levee::ledger
