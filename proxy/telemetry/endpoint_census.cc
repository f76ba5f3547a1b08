// SPDX-License-Identifier: Apache-2.0
#include "telemetry/endpoint_census.h"

#include <algorithm>

namespace levee {

void EndpointCensus::Move(std::string_view name, std::optional<EndpointState> from,
                          std::optional<EndpointState> to) {
  if (from == to) return;
  const std::lock_guard lock(mutex_);
  auto at = endpoints_.find(name);
  if (at == endpoints_.end()) at = endpoints_.try_emplace(std::string(name)).first;
  auto& held = at->second;
  if (from.has_value()) --held[static_cast<size_t>(*from)];
  if (to.has_value()) ++held[static_cast<size_t>(*to)];
  if (std::all_of(held.begin(), held.end(), [](int32_t n) { return n == 0; })) {
    endpoints_.erase(at);
  }
}

void EndpointCensus::Reset() {
  const std::lock_guard lock(mutex_);
  endpoints_.clear();
}

EndpointCensus::Counts EndpointCensus::Count(const std::vector<const EndpointCensus*>& workers) {
  std::map<std::string, size_t, std::less<>> best;
  for (const EndpointCensus* worker : workers) {
    const std::lock_guard lock(worker->mutex_);
    for (const auto& [name, held] : worker->endpoints_) {
      const auto first = std::find_if(held.begin(), held.end(), [](int32_t n) { return n > 0; });
      if (first == held.end()) continue;
      const auto state = static_cast<size_t>(first - held.begin());
      const auto [at, is_new] = best.try_emplace(name, state);
      if (!is_new) at->second = std::min(at->second, state);
    }
  }
  Counts counts{};
  for (const auto& [name, state] : best) ++counts[state];
  return counts;
}

}  // namespace levee
