// SPDX-License-Identifier: Apache-2.0
// Carries bytes from one connection to another, unchanged.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/chunk.h"
#include "net/address.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"

namespace levee::net {

class Relay;

// Receives a relay's events. The interface inverts a dependency: the tunnels that use relays are of
// a layer above.
class RelayHandler {
 public:
  // A connection from `from` to `to` is under way, in place of one that failed. No byte has been
  // passed on. The first one comes from within the constructor.
  virtual void OnDialled(const Address& from, const Address& to) = 0;

  // The relay holds, and this is what each side has sent so far; `ended`: at least one of them
  // sends nothing more. Comes when that has changed, and once the dialled address has been reached.
  // The bytes stay where they are until this returns.
  virtual void OnHeld(ByteSpan from_caller, ByteSpan from_dialled, bool ended) = 0;

  // `bytes` were passed on, toward the dialled address (`forward`) or back.
  virtual void OnRelayed(bool forward, size_t bytes) = 0;

  // Both directions have ended, or one of the connections broke; `reason` says which. This is the
  // last event. The relay must not be destroyed in here.
  virtual void OnRelayClosed(const std::string& reason) = 0;

 protected:
  ~RelayHandler() = default;
};

// Joins an accepted connection with one that it dials, in both directions, with half-closes. A side
// that does not read stops the other side from sending, so at most kRead bytes are held in each
// direction. One thread.
class Relay final {
 public:
  // While it holds, it reads from each side until it has this many bytes of it, which is enough to
  // tell a protocol.
  static constexpr size_t kPeek = 64;

  // It reads so much at a time.
  static constexpr size_t kRead = 64 * 1024;

  // `caller`: ready. `first`: bytes that were already read from it. `to`: at least one address; the
  // first that can be reached is used. `hold`: no byte is passed on before PassOn. A failure is
  // reported in a later turn of the loop, never in the constructor.
  Relay(EventLoop& loop, ByteStream caller, ByteSpan first, std::vector<Address> to, bool hold,
        RelayHandler& handler);
  ~Relay();

  // OnHeld comes now, if it holds.
  void LookAgain();

  // Ends the holding: what has come is passed on, and all that follows.
  void PassOn();

  // Gives the caller's connection back and closes the dialled one; no event comes any more. Only
  // while it holds. The bytes that OnHeld told of are read from the connection already.
  ByteStream ReleaseCaller();

  // The memory of bytes that have come and not gone on.
  size_t held_bytes() const;

  // True once an address has been reached, so that bytes can pass.
  bool connected() const;

  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

 private:
  class Side;

  void Dial();
  void DialFailed(const std::string& reason);
  void OnReady(Side& side, bool readable, bool writable);
  bool MayRead(const Side& from);
  void Read(Side& from);
  void ReadLater();
  void Write(Side& to);
  void WritePending();
  void UpdateWatches();
  void Fail(const std::string& reason);
  Side& Other(const Side& side) { return &side == caller_.get() ? *dialled_ : *caller_; }

  EventLoop& loop_;
  RelayHandler& handler_;
  std::vector<Address> to_;  // not tried yet
  std::unique_ptr<Side> caller_;
  std::unique_ptr<Side> dialled_;
  std::vector<std::unique_ptr<Side>> failed_;  // addresses that could not be reached
  bool holds_;
  bool closed_ = false;
  bool read_is_due_ = false;  // a task will read
  // Guards the tasks posted to a later turn.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace levee::net
