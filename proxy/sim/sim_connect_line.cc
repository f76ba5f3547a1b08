// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_connect_line.h"

#include <algorithm>
#include <utility>

#include "sim/sim_host.h"

namespace levee {

SimConnectLine::SimConnectLine(SimClock& clock, SimEndpoints& endpoints, WaitingPlaces& places,
                               absl::Duration wait)
    : clock_(clock), endpoints_(endpoints), places_(places), wait_(wait) {
  endpoints_.OnReachabilityChanged([this] { LookSoon(); });
}

bool SimConnectLine::Join(SimHost& host, AttemptId attempt, const AttemptStart& start) {
  const Instant now = clock_.now();
  Waiting waiting = {.host = &host,
                     .attempt = attempt,
                     .until = PatientUntil(wait_, start.begun, start.deadline, now),
                     .held_since = std::nullopt};
  // An endpoint that can be reached may be forbidden to it.
  if (endpoints_.AnyReachable() ? line_.empty() : !Hold(waiting)) return false;
  line_.push_back(waiting);
  return true;
}

// Whether an attempt waits on where nothing can be reached.
bool SimConnectLine::Hold(Waiting& waiting) {
  const Instant now = clock_.now();
  if (now >= waiting.until) return false;
  if (!waiting.held_since.has_value()) {
    if (!places_.Take()) return false;
    waiting.held_since = now;
    clock_.At(waiting.until, [this] { Look(); });
  }
  gate_.OnHeld();
  return true;
}

void SimConnectLine::Leave(const SimHost& host, AttemptId attempt) {
  const auto at = std::find_if(line_.begin(), line_.end(), [&](const Waiting& waiting) {
    return waiting.host == &host && waiting.attempt == attempt;
  });
  if (at == line_.end()) return;
  if (at->held_since.has_value()) places_.Free();
  line_.erase(at);
  if (line_.empty()) gate_.OnEmpty();
}

void SimConnectLine::LookSoon() {
  if (line_.empty() || std::exchange(looks_, true)) return;
  clock_.After(absl::ZeroDuration(), [this] {
    looks_ = false;
    Look();
  });
}

void SimConnectLine::Look() { endpoints_.AnyReachable() ? Release() : EndHopeless(); }

// Lets the oldest go.
void SimConnectLine::Release() {
  while (!line_.empty() && gate_.MayGo(endpoints_.active())) {
    const Waiting first = line_.front();
    const bool goes = first.host->Connect(first.attempt);
    Leave(*first.host, first.attempt);
    if (!goes) first.host->FailToConnect(first.attempt, std::nullopt);  // All are forbidden to it.
  }
}

// Ends those that may not wait on.
void SimConnectLine::EndHopeless() {
  while (true) {
    const auto hopeless = std::find_if(line_.begin(), line_.end(),
                                       [this](Waiting& waiting) { return !Hold(waiting); });
    if (hopeless == line_.end()) return;
    const Waiting waiting = *hopeless;
    Leave(*waiting.host, waiting.attempt);
    waiting.host->FailToConnect(waiting.attempt, waiting.held_since);
  }
}

}  // namespace levee
