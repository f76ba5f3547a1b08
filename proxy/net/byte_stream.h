// SPDX-License-Identifier: Apache-2.0
// A connection as a value that can be handed over: between objects, loops and threads.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/chunk.h"
#include "net/address.h"
#include "net/peer_signs.h"
#include "tls/session.h"

namespace levee::net {

// Owns the descriptor of a connection, TCP or Unix, and never blocks. It knows no event loop: who
// holds it watches descriptor() and calls its functions. It is used by one thread at a time.
//
// The name says what all kinds of it have in common, with or without TLS: bytes in their order.
// "Stream" alone is HTTP/2's word, for one of the calls on a connection.
//
// With TLS the handshake is further steps of Continue, and Read and Write decrypt and encrypt: one
// read from the kernel for each Read, as without. Above 30 functions: a third ask for one fact of
// the connection, and both kinds of it, with TLS and without, are here.
class ByteStream {
 public:
  enum class State : uint8_t {
    kConnecting,  // call Continue when the descriptor is as awaits_bytes and awaits_room say
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

  // The bytes go through TLS from here on. Only before the first of them.
  void Secure(std::unique_ptr<tls::Session> session);

  ByteStream(ByteStream&& other) noexcept;
  ByteStream& operator=(ByteStream&& other) noexcept;
  ~ByteStream() { Close(); }

  State state() const { return state_; }

  // Whether the next step, or the next read, waits for bytes of the peer.
  bool awaits_bytes() const { return state_ == State::kReady || shaking_hands(); }

  // Whether the next step waits for room for more bytes.
  bool awaits_room() const {
    return (state_ == State::kConnecting && !shaking_hands()) || unsent();
  }

  // Whether the connection is there, or has been, with TLS or before it.
  bool connected() const { return connected_; }

  // Whether the connection is there, and the handshake of TLS is not over.
  bool shaking_hands() const { return connected_ && state_ == State::kConnecting; }

  // Takes the next step towards kReady, and returns the state after it.
  State Continue();

  // Ends a handshake for a reason of this side, such as that it takes too long. state() is kFailed.
  void FailHandshake(tls::Result result);

  // Whether bytes, or the end, of the connection wait to be read below TLS.
  bool HasArrived() const;

  // Whether one of its ends has closed the connection, or its peer sends nothing more. Bytes may
  // still wait to be read.
  bool HasEnded() const;

  // Reads what there is, at most the size of `to`. `now` never goes back.
  Transfer Read(std::span<uint8_t> to, Instant now);

  // Whether Read has something to return although the descriptor is not readable.
  bool HasInput() const {
    return tls_ != nullptr && (tls_->HasInput() || tls_->state() != tls::Session::State::kOpen);
  }

  // Writes as much as the kernel takes now. The bytes that it did not take must be offered again,
  // before any others: with TLS they are encrypted already.
  Transfer Write(ByteSpan bytes);
  Transfer Write(std::span<const ByteSpan> pieces);  // one after the other

  // Whether TLS has bytes to send, which may be its own, such as an alert.
  bool unsent() const { return tls_ != nullptr && !tls_->output().empty(); }

  // Sends what the kernel takes of them now. Returns whether all are sent.
  bool SendUnsent();

  // Tells the peer that nothing more comes.
  void EndWriting();

  // Closes the connection; state() stays as it is. Idempotent.
  void Close();

  // Returns why the last step, read or write failed: "connection refused".
  std::string Failure() const;

  // Returns the bytes that the kernel has taken and the peer has not, or a number that grows and
  // shrinks with them; 0 if the system cannot tell.
  size_t Unacknowledged() const;

  // Returns what the kernel knows of the other end; nullopt if it is no TCP connection.
  std::optional<PeerSigns> Signs() const;

  // The other end's address: where an accepted connection comes from, or to where this one was
  // dialled.
  const Address& peer() const { return peer_; }

  // Returns this end's address; an unspecified one if the system cannot tell.
  Address LocalAddress() const;

  // Returns where an accepted TCP connection was going when the system's firewall redirected it to
  // the listener (SO_ORIGINAL_DST): its own end's address, if it was not. nullopt: the system does
  // not know.
  std::optional<Address> OriginalDestination() const;

  // nullptr without TLS.
  const tls::Session* tls() const { return tls_.get(); }

  // To be watched by a loop, and for nothing else; -1 if there is none.
  int descriptor() const { return fd_; }

 private:
  Transfer Moved(ssize_t size, size_t wanted);
  Transfer Receive(std::span<uint8_t> to);
  Transfer ReadSecured(std::span<uint8_t> to, Instant now);
  Transfer WriteSecured(std::span<const ByteSpan> pieces);
  Transfer SendOutput();
  State ShakeHands();

  int fd_ = -1;
  int error_ = 0;  // an errno
  State state_ = State::kFailed;
  bool connected_ = false;  // below TLS
  Address peer_;
  std::unique_ptr<tls::Session> tls_;
  size_t encrypted_ = 0;  // bytes offered to Write that it has not returned as taken
};

}  // namespace levee::net
