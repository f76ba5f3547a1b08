// SPDX-License-Identifier: Apache-2.0
#include "ledger/caller.h"

#include <algorithm>
#include <cstdlib>

#include "bench/loopback.h"
#include "ledger/caller_link.h"

namespace levee::ledger {
namespace {

// Calls of which the caller or the access log has not told the end. Their lines fit into what the
// sidecar lets wait for the log, so that none is lost, however slowly it is written.
constexpr size_t kMostOpen = 4'000;

// Beyond these the caller waits until some are forgotten.
constexpr size_t kMostEntries = 1'000'000;

}  // namespace

Caller::Caller(Loop& loop, const Schedule& schedule, Book& book, const std::string& address,
               bool patient)
    : loop_(loop),
      schedule_(schedule),
      book_(book),
      port_(static_cast<uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str()))),
      patient_(patient) {}

Caller::~Caller() { HangUp(); }

void Caller::Begin(int connections, int streams, uint64_t calls) {
  connections_ = static_cast<size_t>(connections);
  streams_ = streams;
  left_ = 0;
  ending_ = false;
  Add(calls);
}

void Caller::Add(uint64_t calls) {
  left_ += calls;
  for (const auto& link : links_) link->Fill(streams_);
  const size_t missing = connections_ - std::min(connections_, links_.size());
  for (size_t i = 0; i < missing && !refused_; ++i) Connect();
}

void Caller::Connect() {
  const int fd = bench::ConnectToLoopback(port_);
  if (fd < 0 && patient_) {
    ConnectAfter(Millis(10));
    return;
  }
  if (fd < 0) {
    refused_ = true;
    left_ = 0;
    return;
  }
  links_.push_back(std::make_shared<CallerLink>(*this, fd));
  links_.back()->Fill(streams_);
}

uint64_t Caller::NextCall() {
  if (left_ == 0 || book_.open() >= kMostOpen || book_.entries() >= kMostEntries) return 0;
  --left_;
  return book_.Begin(loop_.now());
}

void Caller::OnGone(CallerLink& link, bool hung_up) {
  std::erase_if(links_, [&](const auto& one) { return one.get() == &link; });
  ++(hung_up ? hang_ups_ : lost_);
  // Not at once, since the connection that is gone may be at work.
  ConnectAfter(Millis(0));
}

void Caller::ConnectAfter(Millis pause) {
  loop_.After(pause, [this] {
    if (!ending_ && left_ > 0 && links_.size() < connections_) Connect();
  });
}

void Caller::HangUp() {
  ending_ = true;
  while (!links_.empty()) links_.back()->Close(Link::Manner::kEnd);
}

}  // namespace levee::ledger
