// Bytes from one connection to another, untouched.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/chunk.h"
#include "net/address.h"
#include "net/event_loop.h"

namespace levee::net {

class Relay;

class RelayHandler {
 public:
  // `bytes` were passed on, toward the address that was dialled (`forward`) or back.
  virtual void OnRelayed(bool forward, size_t bytes) = 0;

  // Both directions have ended, or one of the connections broke: `reason`. The last event; not in
  // here may it destroy the relay.
  virtual void OnRelayClosed(const std::string& reason) = 0;

 protected:
  ~RelayHandler() = default;
};

// Joins an accepted connection with one that it dials, both ways, with half-closes. What one side
// does not take keeps the other from sending, so no more than one read's worth of bytes is held
// each way. One thread.
class Relay final {
 public:
  // `fd`: accepted, non-blocking; owned from here on. `first`: what was read of it already. `to`:
  // at least one address; the first that can be reached. No failure is told before a later turn of
  // the loop.
  Relay(EventLoop& loop, int fd, ByteSpan first, std::vector<Address> to, RelayHandler& handler);
  ~Relay();
  // Bytes can pass: an address has been reached.
  bool connected() const;

  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

 private:
  class Side;

  void Dial();
  void DialFailed(int error);
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
  // Guards what is posted to a later turn.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace levee::net
