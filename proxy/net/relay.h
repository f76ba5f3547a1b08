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

  // `bytes` were passed on, toward the dialled address (`forward`) or back.
  virtual void OnRelayed(bool forward, size_t bytes) = 0;

  // Both directions have ended, or one of the connections broke; `reason` says which. This is the
  // last event. The relay must not be destroyed in here.
  virtual void OnRelayClosed(const std::string& reason) = 0;

 protected:
  ~RelayHandler() = default;
};

// Joins an accepted connection with one that it dials, in both directions, with half-closes. A side
// that does not read stops the other side from sending, so at most one read's worth of bytes is
// held in each direction. One thread.
class Relay final {
 public:
  // `caller`: ready. `first`: bytes that were already read from it. `to`: at least one address; the
  // first that can be reached is used. A failure is reported in a later turn of the loop, never in
  // the constructor.
  Relay(EventLoop& loop, ByteStream caller, ByteSpan first, std::vector<Address> to,
        RelayHandler& handler);
  ~Relay();

  // True once an address has been reached, so that bytes can pass.
  bool connected() const;

  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

 private:
  class Side;

  void Dial();
  void DialFailed(const std::string& reason);
  void OnReady(Side& side, bool readable, bool writable);
  void Read(Side& from);
  void Write(Side& to);
  void UpdateWatches();
  void Fail(const std::string& reason);
  Side& Other(const Side& side) { return &side == caller_.get() ? *dialled_ : *caller_; }

  EventLoop& loop_;
  RelayHandler& handler_;
  std::vector<Address> to_;  // not tried yet
  std::unique_ptr<Side> caller_;
  std::unique_ptr<Side> dialled_;
  std::vector<std::unique_ptr<Side>> failed_;  // addresses that could not be reached
  bool closed_ = false;
  // Guards the tasks posted to a later turn.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace levee::net
