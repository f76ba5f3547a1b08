// SPDX-License-Identifier: Apache-2.0
#include "admin_grpc/gated_connection.h"

#include <utility>

#include "h2/frame.h"

namespace levee {
namespace {

using Next = net::ByteStream::Transfer::Next;

constexpr int kLibraryBufferBytes = 16 << 10;

// Writes the first `size` of `bytes`, and removes what was taken. Returns false if the connection
// has failed.
bool WriteFirst(net::ByteStream& to, size_t size, std::vector<uint8_t>& bytes, size_t& written) {
  written = 0;
  if (size == 0) return true;
  const net::ByteStream::Transfer moved = to.Write(ByteSpan(bytes).first(size));
  written = moved.bytes;
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(written));
  return moved.next != Next::kFailed;
}

}  // namespace

GatedConnection::GatedConnection(net::EventLoop& loop, net::ByteStream peer, const Port& port)
    : loop_(loop), port_(port), peer_(std::move(peer)), given_(library_, kLibraryBufferBytes) {
  if (given() < 0) return;
  peer_watch_.emplace(loop, peer_.descriptor(), peer_side_);
  library_watch_.emplace(loop, library_.descriptor(), library_side_);
  Watch();
}

void GatedConnection::OnPeer(bool readable) {
  if (readable && MayRead() && !Read(peer_, from_peer_)) {
    Pass();  // The library gets what came before the end.
    End();
    return;
  }
  Continue();
}

void GatedConnection::OnLibrary(bool readable) {
  if (readable && to_peer_.empty()) {
    library_ended_ = !Read(library_, to_peer_);
    count_.Answered(to_peer_);
  }
  Continue();
}

void GatedConnection::PassAnswers() {
  while (!ended() && !library_ended_ && to_peer_.empty()) {
    library_ended_ = !Read(library_, to_peer_);
    if (to_peer_.empty()) return;
    Pass();
  }
}

// Returns false if nothing more comes.
bool GatedConnection::Read(net::ByteStream& from, std::vector<uint8_t>& to) {
  const size_t before = to.size();
  to.resize(before + kMostBytes);
  const net::ByteStream::Transfer moved = from.Read(std::span(to).subspan(before), loop_.now());
  to.resize(before + moved.bytes);
  return moved.next != Next::kEnd && moved.next != Next::kFailed;
}

// A part of a frame's head waits for the rest.
bool GatedConnection::MayRead() const {
  return from_peer_.size() < h2::kFrameHeadBytes && to_peer_.empty();
}

void GatedConnection::Continue() {
  if (ended()) return;
  Pass();
  if (!ended()) Watch();
}

void GatedConnection::Pass() {
  may_pass_ += count_.Pass(ByteSpan(from_peer_).subspan(may_pass_), port_.room());
  size_t written = 0;
  const bool passed = WriteFirst(library_, may_pass_, from_peer_, written);
  may_pass_ -= written;
  const bool answered = WriteFirst(peer_, to_peer_.size(), to_peer_, written);
  if (!answered || count_.is_other_protocol() || (library_ended_ && to_peer_.empty())) End();
  // Where the library takes nothing more, what it has said is read before its end.
  if (!passed) {
    from_peer_.clear();
    may_pass_ = 0;
  }
  // A peer that waits for room and has gone is not read.
  if (!ended() && !MayRead() && peer_.HasEnded()) End();
  if (count_.wants_room() || count_.ended() > 0) port_.changed();
}

void GatedConnection::EndIfLeft() {
  if (!ended() && peer_.HasEnded()) End();
}

void GatedConnection::Watch() {
  peer_watch_->Set(MayRead(), !to_peer_.empty());
  library_watch_->Set(to_peer_.empty(), may_pass_ > 0);
}

void GatedConnection::End() {
  if (ended()) return;
  peer_watch_.reset();
  library_watch_.reset();
  peer_.Close();
  library_.Close();
  from_peer_ = {};
  to_peer_ = {};
  may_pass_ = 0;
  port_.changed();
}

}  // namespace levee
