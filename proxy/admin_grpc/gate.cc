// SPDX-License-Identifier: Apache-2.0
#include "admin_grpc/gate.h"

#include <algorithm>
#include <utility>

namespace levee {
namespace {

bool IsGone(const GatedConnection& connection) {
  return connection.ended() && !connection.IsHeld();
}

}  // namespace

void Gate::Add(net::ByteStream peer) {
  if (closed_) return;
  waiting_.push_back(std::move(peer));
  places_.remove_if(IsGone);
  Admit();
  if (waiting_.size() > kMostWaiting) waiting_.pop_front();
}

void Gate::Close() {
  closed_ = true;
  waiting_.clear();
}

void Gate::PassAnswers() {
  for (GatedConnection& connection : places_) connection.PassAnswers();
}

size_t Gate::calls() const {
  size_t all = 0;
  for (const GatedConnection& connection : places_) all += connection.count().calls();
  return all;
}

// Connections that have ended while they waited take no place.
void Gate::Admit() {
  std::erase_if(waiting_, [](const net::ByteStream& peer) { return peer.HasEnded(); });
  while (!waiting_.empty() && places_.size() < kMostConnections) {
    GatedConnection& added = places_.emplace_back(loop_, std::move(waiting_.front()), port_);
    waiting_.pop_front();
    if (added.given() < 0) {
      places_.pop_back();
    } else {
      serve_(added.given());
    }
  }
  if (waiting_.empty()) return;
  for (GatedConnection& connection : places_) connection.EndIfLeft();
  const auto leaving = static_cast<size_t>(
      std::count_if(places_.begin(), places_.end(), [](const auto& one) { return one.ended(); }));
  for (size_t i = leaving; i < std::min(waiting_.size(), kMostConnections); ++i) EndOldest();
  LookSoon();
}

void Gate::EndOldest() {
  const auto oldest =
      std::find_if(places_.begin(), places_.end(), [](const auto& one) { return !one.ended(); });
  if (oldest != places_.end()) oldest->End();
}

// Ends the connection with most calls, where a call waits for room and none of those that have
// ended will make some.
void Gate::MakeRoom() {
  if (Room() > 0) return;
  GatedConnection* most = nullptr;
  bool wanted = false;
  for (GatedConnection& connection : places_) {
    const size_t calls = connection.count().calls();
    if (connection.ended() && calls > 0) return;
    wanted |= connection.count().wants_room();
    if (most == nullptr || calls > most->count().calls()) most = &connection;
  }
  if (wanted) most->End();
}

void Gate::ForgetEndedCall() {
  for (GatedConnection& connection : places_) {
    if (connection.ended() || connection.count().ended() == 0) continue;
    connection.count().ForgetEnded();
    return;
  }
}

void Gate::LookSoon() {
  if (!linked()) wheel_.Arm(*this, loop_.now() + kLook);
}

void Gate::OnTimer(Instant) {
  places_.remove_if(IsGone);
  ForgetEndedCall();
  if (!closed_) Admit();
  for (GatedConnection& connection : places_) connection.Continue();
  MakeRoom();
  const bool look = std::any_of(places_.begin(), places_.end(), [](const GatedConnection& one) {
    return one.ended() || one.count().ended() > 0 || one.count().wants_room();
  });
  if (look) LookSoon();
}

}  // namespace levee
