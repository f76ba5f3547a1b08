// SPDX-License-Identifier: Apache-2.0
#include "net/socket.h"

#include <algorithm>
#include <utility>

namespace levee::net {

Socket::Socket(EventLoop& loop, ByteStream stream, SocketHandler& handler)
    : loop_(loop),
      handler_(handler),
      stream_(std::move(stream)),
      state_(stream_.state() == ByteStream::State::kReady ? State::kOpen : State::kConnecting),
      want_write_(false) {
  if (stream_.state() == ByteStream::State::kFailed) {
    loop_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired()) Fail(stream_.Failure());
    });
    return;
  }
  watch_.emplace(loop_, stream_.descriptor(), static_cast<ReadyHandler&>(*this));
  UpdateWatch();
  if (open() && stream_.HasInput()) ReadLater();
}

void Socket::UpdateWatch() {
  if (!watch_.has_value()) return;
  watch_->Set(stream_.awaits_bytes() && reading_, want_write_ || stream_.awaits_room());
}

void Socket::OnReady(bool readable, bool writable) {
  if (state_ == State::kConnecting) {
    FinishConnecting();
    return;
  }
  if (writable) SendRest();
  if (readable && reading_ && state_ == State::kOpen) Read();
}

// Bytes that TLS has encrypted go before any others.
void Socket::SendRest() {
  if (!stream_.SendUnsent()) return;
  const bool asked = std::exchange(want_write_, false);
  UpdateWatch();
  if (asked) handler_.OnWritable();
}

void Socket::FinishConnecting() {
  switch (stream_.Continue()) {
    case ByteStream::State::kConnecting:
      UpdateWatch();
      return;
    case ByteStream::State::kFailed:
      Fail(stream_.Failure());
      return;
    case ByteStream::State::kReady:
      state_ = State::kOpen;
      UpdateWatch();
      if (stream_.HasInput()) ReadLater();
      handler_.OnConnected();
      return;
  }
}

void Socket::Read() {
  ReadBlocks& blocks = loop_.read_blocks();
  const std::span<uint8_t> whole = blocks.memory();
  const std::span<uint8_t> memory =
      whole.first(std::min({whole.size(), loop_.read_most(), read_limit_}));
  const ByteStream::Transfer moved = stream_.Read(memory, loop_.now());
  loop_.CountRead(moved.bytes);
  if (moved.bytes > 0) {
    const auto bytes = memory.first(moved.bytes);
    if (stream_.HasInput()) ReadLater();
    if (stream_.unsent()) UpdateWatch();
    handler_.OnBytes(bytes, blocks.Filled(bytes.size()));
  } else if (moved.next == ByteStream::Transfer::Next::kEnd) {
    ended_ = true;
    Fail("connection closed by the peer");
  } else if (moved.next == ByteStream::Transfer::Next::kFailed) {
    Fail(stream_.Failure());
  }
}

// Bytes that TLS keeps make no descriptor readable. They are read once a turn, like others.
void Socket::ReadLater() {
  if (std::exchange(read_is_due_, true)) return;
  loop_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    read_is_due_ = false;
    if (reading_ && state_ == State::kOpen) Read();
  });
}

void Socket::SetReading(bool reading) {
  if (std::exchange(reading_, reading) == reading || state_ != State::kOpen) return;
  UpdateWatch();
  if (reading && stream_.HasInput()) ReadLater();
}

size_t Socket::Write(ByteSpan bytes) {
  if (state_ != State::kOpen || bytes.empty()) return 0;
  return Written(stream_.Write(bytes));
}

size_t Socket::Write(std::span<const ByteSpan> pieces) {
  if (pieces.size() == 1) return Write(pieces[0]);
  return state_ == State::kOpen ? Written(stream_.Write(pieces)) : 0;
}

size_t Socket::Written(const ByteStream::Transfer& moved) {
  // A broken connection is readable: the read that follows tells why, so an error here only waits.
  if (moved.next == ByteStream::Transfer::Next::kWait) {
    want_write_ = true;
    UpdateWatch();
  }
  return moved.bytes;
}

ByteStream Socket::Release() {
  state_ = State::kClosed;
  watch_.reset();
  return std::move(stream_);
}

void Socket::Fail(const std::string& reason) {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  watch_.reset();
  handler_.OnClosed(reason);
}

}  // namespace levee::net
