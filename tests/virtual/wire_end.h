// SPDX-License-Identifier: Apache-2.0
// The other end of one of a worker's connections.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace levee {

// Owns a non-blocking descriptor. Bytes that the kernel does not take are kept.
class WireEnd {
 public:
  explicit WireEnd(int fd) : fd_(fd) {}
  ~WireEnd() { Close(); }
  WireEnd(const WireEnd&) = delete;
  WireEnd& operator=(const WireEnd&) = delete;

  void Send(std::string_view bytes) { unsent_ += bytes; }

  // Writes at most `most` bytes of what is to be sent. True if any went.
  bool Write(size_t most);

  // Appends what has come, if there is anything.
  bool Read(std::string& to);

  // Nothing more is sent after what has been written; or received as well.
  void HalfClose();
  void Close();

  // The worker has neither closed its end nor failed.
  bool open() const { return fd_ >= 0; }

 private:
  int fd_;
  std::string unsent_;
};

}  // namespace levee
