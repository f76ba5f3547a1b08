// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_endpoints.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace levee {

int64_t SimEndpoints::Add(Service service, std::string name) {
  const int64_t id = set_.Add();
  LEVEE_CHECK(id == static_cast<int64_t>(endpoints_.size()));  // None has ever been removed.
  endpoints_.push_back({.service = std::move(service), .name = std::move(name)});
  if (connected_) Update(id);
  return id;
}

std::string SimEndpoints::NameOf(int64_t endpoint) const {
  const std::string& name = endpoints_.at(static_cast<size_t>(endpoint)).name;
  return name.empty() ? absl::StrCat("endpoint ", endpoint) : name;
}

bool SimEndpoints::AnyReachable() const {
  return std::any_of(endpoints_.begin(), endpoints_.end(),
                     [](const Endpoint& endpoint) { return endpoint.reachable; });
}

void SimEndpoints::SetReachable(int64_t endpoint, bool reachable) {
  At(endpoint).reachable = reachable;
  if (!connected_) return;
  Update(endpoint);
  if (tell_) tell_();
}

void SimEndpoints::SetSilent(int64_t endpoint, bool silent) {
  At(endpoint).silent = silent;
  if (connected_) Update(endpoint);
}

void SimEndpoints::Update(int64_t endpoint) {
  const Endpoint& state = At(endpoint);
  set_.Update(endpoint,
              {.usable = state.reachable,
               .open = state.reachable,
               .silent = state.silent,
               .active = state.active},
              clock_.now());
}

void SimEndpoints::Connect() {
  if (std::exchange(connected_, true)) return;
  for (int64_t id = 0; id < size(); ++id) Update(id);
}

int64_t SimEndpoints::OpenRecorded(int64_t endpoint) {
  Connect();
  ++active_;
  ++At(endpoint).active;
  Update(endpoint);
  return endpoint;
}

std::optional<int64_t> SimEndpoints::Open(std::span<const int64_t> avoid,
                                          std::span<const int64_t> forbidden, NextCall call) {
  Connect();
  const auto chosen =
      takes_turns_ ? NextInTurn() : set_.Choose(avoid, forbidden, call, clock_.now(), random_);
  if (chosen.has_value()) {
    ++active_;
    ++At(*chosen).active;
    Update(*chosen);
  }
  return chosen;
}

// The first turn is drawn, so that clients do not all begin at the same endpoint.
std::optional<int64_t> SimEndpoints::NextInTurn() {
  const uint64_t count = endpoints_.size();
  if (!turn_.has_value()) turn_ = random_.Below(count);
  for (uint64_t i = 0; i < count; ++i) {
    turn_ = (*turn_ + 1) % count;
    if (endpoints_[*turn_].reachable) return static_cast<int64_t>(*turn_);
  }
  return std::nullopt;
}

void SimEndpoints::Release(int64_t endpoint) {
  --active_;
  --At(endpoint).active;
  Update(endpoint);
}

void SimEndpoints::OnAttemptEnded(int64_t endpoint, bool success,
                                  std::optional<absl::Duration> took) {
  if (ejects_) {
    set_.RecordEnd(endpoint, success, clock_.now(), took);
  } else if (took.has_value()) {
    set_.RecordLatency(endpoint, *took, clock_.now());
  }
}

}  // namespace levee
