// SPDX-License-Identifier: Apache-2.0
#include "server/memory_holders.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_map.h"

namespace levee {

void SortByWhoGivesFirst(std::vector<MemoryHolder>& holders,
                         absl::FunctionRef<size_t(size_t, size_t)> much) {
  using Reason = MemoryHolder::Reason;
  absl::flat_hash_map<const void*, size_t> of_connections;
  absl::flat_hash_map<uint64_t, size_t> of_senders;
  size_t all = 0, of_calls = 0;
  for (const MemoryHolder& holder : holders) {
    all += holder.bytes;
    of_senders[holder.sender] += holder.bytes;
    if (holder.idle.has_value()) continue;
    of_calls += holder.bytes;
    of_connections[holder.connection] += holder.bytes;
  }
  const size_t most = much(of_calls, of_connections.size());
  for (MemoryHolder& holder : holders) {
    holder.weight = holder.bytes;
    if (holder.idle.has_value()) {
      holder.reason = Reason::kIdle;
      holder.weight = of_senders[holder.sender];
    } else if (of_connections[holder.connection] > most) {
      holder.reason = Reason::kOfMuch;
    } else if (of_senders[holder.sender] > all / 2) {
      holder.reason = Reason::kOfLargest;
    }
  }
  std::reverse(holders.begin(), holders.end());
  std::stable_sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) {
    return std::tie(a.reason, a.weight, a.idle) > std::tie(b.reason, b.weight, b.idle);
  });
}

}  // namespace levee
