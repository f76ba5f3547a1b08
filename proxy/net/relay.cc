// SPDX-License-Identifier: Apache-2.0
#include "net/relay.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/block_cache.h"
#include "net/descriptors.h"

namespace levee::net {

// One of the two connections.
class Relay::Side final : private ReadyHandler {
 public:
  Side(Relay& relay, ByteStream wanted) : stream(std::move(wanted)), relay_(relay) {
    if (stream.descriptor() >= 0) {
      watch_.emplace(relay.loop_, stream.descriptor(), static_cast<ReadyHandler&>(*this));
    }
  }

  void Watch(bool read, bool write) {
    if (watch_.has_value()) watch_->Set(read, write);
  }
  // Ends all events.
  void Close() {
    watch_.reset();
    stream.Close();
  }
  ByteStream Release() {
    watch_.reset();
    return std::move(stream);
  }

  ByteStream stream;
  bool connecting = false;
  bool ended = false;  // it sends nothing more
  bool shut = false;   // it has been told that nothing more comes
  std::vector<uint8_t, BlockAllocator<uint8_t>> pending;  // to be written to it

 private:
  void OnReady(bool readable, bool writable) override { relay_.OnReady(*this, readable, writable); }

  Relay& relay_;
  std::optional<EventLoop::Watch> watch_;
};

Relay::Relay(EventLoop& loop, ByteStream caller, ByteSpan first, std::vector<Address> to, bool hold,
             RelayHandler& handler)
    : loop_(loop),
      handler_(handler),
      to_(std::move(to)),
      caller_(std::make_unique<Side>(*this, std::move(caller))),
      dialled_(std::make_unique<Side>(*this, ByteStream())),
      holds_(hold) {
  dialled_->pending.assign(first.begin(), first.end());
  Dial();
}

void Relay::Dial() {
  const Address to = to_.front();
  to_.erase(to_.begin());
  auto next = std::make_unique<Side>(*this, ByteStream::Dial(to));
  next->connecting = true;
  next->pending.swap(dialled_->pending);
  dialled_->Close();
  // The old side stays alive, since it may be in the middle of its own callback.
  failed_.push_back(std::exchange(dialled_, std::move(next)));
  const bool reserved = IsReserved(dialled_->stream.descriptor());
  if (!reserved && dialled_->stream.state() == ByteStream::State::kConnecting) {
    handler_.OnDialled(dialled_->stream.LocalAddress(), to);
    UpdateWatches();
    return;
  }
  const std::string reason =
      reserved ? "no file descriptor is left for tunnels" : dialled_->stream.Failure();
  dialled_->Close();
  loop_.Post([this, reason, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) DialFailed(reason);
  });
}

void Relay::DialFailed(const std::string& reason) {
  if (closed_) return;
  if (to_.empty()) {
    Fail(reason);
  } else {
    Dial();
  }
}

Relay::~Relay() = default;

size_t Relay::held_bytes() const {
  return caller_->pending.capacity() + dialled_->pending.capacity();
}

bool Relay::connected() const { return !dialled_->connecting; }

void Relay::OnReady(Side& side, bool readable, bool writable) {
  if (side.connecting) {
    if (side.stream.Continue() == ByteStream::State::kFailed) {
      DialFailed(side.stream.Failure());
      return;
    }
    side.connecting = side.stream.state() == ByteStream::State::kConnecting;
    if (side.connecting) return;
  }
  if (writable && !holds_ && !side.pending.empty()) Write(side);
  if (readable && !closed_) Read(side);
  LookAgain();
  if (!closed_) UpdateWatches();
}

void Relay::LookAgain() {
  if (!holds_ || closed_) return;
  handler_.OnHeld(dialled_->pending, caller_->pending, caller_->ended || dialled_->ended);
}

bool Relay::MayRead(const Side& from) {
  if (from.connecting || from.ended) return false;
  const Side& to = Other(from);
  return holds_ ? to.pending.size() < kPeek : !to.connecting && to.pending.empty();
}

void Relay::Read(Side& from) {
  if (!MayRead(from)) return;
  Side& to = Other(from);
  const std::span<uint8_t> buffer =
      loop_.read_blocks().memory().first(std::min(kRead, loop_.read_most()));
  const ByteStream::Transfer moved = from.stream.Read(buffer, loop_.now());
  loop_.CountRead(moved.bytes);
  if (moved.bytes > 0) {
    to.pending.insert(to.pending.end(), buffer.begin(),
                      buffer.begin() + static_cast<ptrdiff_t>(moved.bytes));
    if (!holds_) Write(to);
  } else if (moved.next == ByteStream::Transfer::Next::kEnd) {
    from.ended = true;
  } else if (moved.next == ByteStream::Transfer::Next::kFailed) {
    // Without the holding, what came before would have been passed on by now.
    if (std::exchange(holds_, false)) WritePending();
    Fail(from.stream.Failure());
  }
}

void Relay::WritePending() {
  for (Side* side : {caller_.get(), dialled_.get()}) {
    if (!closed_ && !side->connecting && !side->pending.empty()) Write(*side);
  }
}

void Relay::PassOn() {
  holds_ = false;
  WritePending();
  if (!closed_) UpdateWatches();
}

ByteStream Relay::ReleaseCaller() {
  closed_ = true;
  dialled_->Close();
  return caller_->Release();
}

void Relay::Write(Side& to) {
  const ByteStream::Transfer moved = to.stream.Write(to.pending);
  if (moved.next == ByteStream::Transfer::Next::kFailed) {
    Fail(to.stream.Failure());
    return;
  }
  if (moved.bytes == 0) return;
  to.pending.erase(to.pending.begin(), to.pending.begin() + static_cast<ptrdiff_t>(moved.bytes));
  // An idle connection holds no memory.
  if (to.pending.empty()) to.pending.shrink_to_fit();
  handler_.OnRelayed(&to == dialled_.get(), moved.bytes);
}

void Relay::UpdateWatches() {
  for (Side* side : {caller_.get(), dialled_.get()}) {
    Side& other = Other(*side);
    if (side->ended && !holds_ && other.pending.empty() && !other.connecting && !other.shut) {
      other.shut = true;
      other.stream.EndWriting();
    }
  }
  if (caller_->shut && dialled_->shut) {
    Fail("closed by both sides");
    return;
  }
  for (Side* side : {caller_.get(), dialled_.get()}) {
    side->Watch(MayRead(*side), side->connecting || (!holds_ && !side->pending.empty()));
    if (MayRead(*side) && side->stream.HasInput()) ReadLater();
  }
}

// Bytes that TLS keeps make no descriptor readable.
void Relay::ReadLater() {
  if (std::exchange(read_is_due_, true)) return;
  loop_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    read_is_due_ = false;
    for (Side* side : {caller_.get(), dialled_.get()}) {
      if (!closed_ && side->stream.HasInput()) Read(*side);
    }
    LookAgain();
    if (!closed_) UpdateWatches();
  });
}

void Relay::Fail(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  caller_->Close();
  dialled_->Close();
  handler_.OnRelayClosed(reason);
}

}  // namespace levee::net
