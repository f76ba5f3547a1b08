// SPDX-License-Identifier: Apache-2.0
#include "admin/http_connection.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace levee {
namespace {

// A connection that is closed with bytes unread is reset, and the client might not see its answer.
// So what comes behind a request is read, for a while.
constexpr size_t kMaxDroppedBytes = 8192;

constexpr size_t kReadBytes = 4096;
// Written in a turn of the loop, so that a large answer lets the others have theirs.
constexpr size_t kWriteBytes = 256 << 10;

}  // namespace

HttpConnection::HttpConnection(net::EventLoop& loop, TimerWheel& wheel, net::ByteStream stream,
                               uint64_t number, const Events& events, const Timeouts& timeouts)
    : loop_(loop),
      wheel_(wheel),
      stream_(std::move(stream)),
      number_(number),
      events_(events),
      timeouts_(timeouts),
      watch_(loop, stream_.descriptor(), static_cast<net::ReadyHandler&>(*this)) {
  watch_.Set(true, false);
  wheel_.Arm(*this, loop_.now() + timeouts_.head);
}

const HttpResponse* HttpConnection::refusal() const {
  // Every refusal has a body; a request that was accepted has none.
  return reader_.refusal().body.empty() ? nullptr : &reader_.refusal();
}

// Each of these may destroy this object.
void HttpConnection::OnReady(bool, bool) {
  switch (state_) {
    case State::kHead:
      return ReadHead();
    case State::kAnswering:
      return;
    case State::kSending:
      return Write();
    case State::kEnding:
      return DropInput();
  }
}

void HttpConnection::ReadHead() {
  std::array<uint8_t, kReadBytes> buffer;
  const auto read = stream_.Read(buffer, loop_.now());
  const ByteSpan bytes = std::span(buffer).first(read.bytes);
  if (reader_.Read(bytes) != RequestReader::State::kMore) {
    state_ = State::kAnswering;
    watch_.Set(false, false);
    wheel_.Arm(*this, Instant::Infinite());
    events_.on_request(*this);
  } else if (read.next == net::ByteStream::Transfer::Next::kEnd ||
             read.next == net::ByteStream::Transfer::Next::kFailed) {
    events_.on_end(*this);
  }
}

void HttpConnection::Send(std::string answer) {
  answer_ = std::move(answer);
  state_ = State::kSending;
  watch_.Set(false, true);
  wheel_.Arm(*this, loop_.now() + timeouts_.answer);
}

void HttpConnection::Write() {
  const ByteSpan rest(reinterpret_cast<const uint8_t*>(answer_.data()) + sent_, unsent());
  const auto written = stream_.Write(rest.first(std::min(rest.size(), kWriteBytes)));
  sent_ += written.bytes;
  if (written.next == net::ByteStream::Transfer::Next::kFailed) return events_.on_end(*this);
  if (unsent() > 0) return;
  stream_.EndWriting();
  state_ = State::kEnding;
  watch_.Set(true, false);
  wheel_.Arm(*this, loop_.now() + timeouts_.end);
}

void HttpConnection::DropInput() {
  std::array<uint8_t, kReadBytes> buffer;
  const auto read = stream_.Read(buffer, loop_.now());
  dropped_ += read.bytes;
  const bool over = read.next == net::ByteStream::Transfer::Next::kEnd ||
                    read.next == net::ByteStream::Transfer::Next::kFailed;
  if (over || dropped_ > kMaxDroppedBytes) events_.on_end(*this);
}

}  // namespace levee
