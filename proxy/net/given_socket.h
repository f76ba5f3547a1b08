// SPDX-License-Identifier: Apache-2.0
// A connection to another library in this process.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "net/byte_stream.h"

namespace levee::net {

// One of two connected sockets, which another library owns and closes. It tells whether the library
// has done so, which is after the library has freed what it had for the connection.
class GivenSocket {
 public:
  // Makes both sockets. `kept`: this side's. Each holds about `buffer_bytes` of the other's.
  GivenSocket(ByteStream& kept, int buffer_bytes);

  // The library takes this one; -1: the process has no descriptors left.
  int descriptor() const { return fd_; }

  // Whether the library still has it.
  bool IsOpen() const;

 private:
  int fd_ = -1;
  // Tells it from another one that gets its number once it is closed.
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace levee::net
