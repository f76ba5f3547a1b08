// SPDX-License-Identifier: Apache-2.0
// A connection as a value that can be handed over: between objects, loops and threads.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/chunk.h"
#include "net/address.h"

namespace levee::net {

// Owns the descriptor of a connection, TCP or Unix, and never blocks. It knows no event loop: who
// holds it watches descriptor() and calls its functions. It is used by one thread at a time.
//
// The name says what all kinds of it have in common, with or without TLS: bytes in their order.
// "Stream" alone is HTTP/2's word, for one of the calls on a connection.
//
// TLS belongs in here: its handshake is further steps of Continue, its state moves along with the
// descriptor, and Read and Write encrypt. The identity that the peer's certificate proves belongs
// beside peer().
class ByteStream {
 public:
  enum class State : uint8_t {
    kConnecting,  // call Continue when the descriptor is writable
    kReady,       // bytes can pass
    kFailed,      // it never became ready; Failure says why
  };

  // Tells what a read or a write has moved, and what comes next.
  struct Transfer {
    enum class Next : uint8_t {
      kGoOn,    // all was moved that was asked for or was there
      kWait,    // until the descriptor is ready for the rest
      kEnd,     // the peer sends nothing more
      kFailed,  // Failure says why
    };
    size_t bytes = 0;
    Next next = Next::kGoOn;
  };

  // Is no connection.
  ByteStream() = default;

  // Takes a connection that is there. `fd`: non-blocking; owned from here on. `peer`: the address
  // of its other end, if it is known.
  explicit ByteStream(int fd, const Address& peer = {});

  // Starts to connect. An immediate failure shows in state().
  static ByteStream Dial(const Address& to);

  ByteStream(ByteStream&& other) noexcept;
  ByteStream& operator=(ByteStream&& other) noexcept;
  ~ByteStream() { Close(); }

  State state() const { return state_; }

  // Takes the next step towards kReady, and returns the state after it.
  State Continue();

  // Reads what there is, at most the size of `to`.
  Transfer Read(std::span<uint8_t> to);

  // Writes as much as the kernel takes now.
  Transfer Write(ByteSpan bytes);
  Transfer Write(std::span<const ByteSpan> pieces);  // one after the other

  // Tells the peer that nothing more comes.
  void EndWriting();

  // Closes the connection; state() stays as it is. Idempotent.
  void Close();

  // Returns why the last step, read or write failed: "connection refused".
  std::string Failure() const;

  // Returns the bytes that the kernel has taken and the peer has not, or a number that grows and
  // shrinks with them; 0 if the system cannot tell.
  size_t Unacknowledged() const;

  // The other end's address: where an accepted connection comes from, or to where this one was
  // dialled.
  const Address& peer() const { return peer_; }

  // To be watched by a loop, and for nothing else; -1 if there is none.
  int descriptor() const { return fd_; }

 private:
  Transfer Moved(ssize_t size, size_t wanted);

  int fd_ = -1;
  int error_ = 0;  // an errno
  State state_ = State::kFailed;
  Address peer_;
};

}  // namespace levee::net
