// SPDX-License-Identifier: Apache-2.0
#include "server/eviction_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace levee {

std::vector<size_t> EvictionOrder(std::span<const DestinationUse> uses) {
  std::vector<size_t> order(uses.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const DestinationUse& one = uses[a];
    const DestinationUse& other = uses[b];
    return std::tuple(one.sender, !one.reached, other.last_used) <
           std::tuple(other.sender, !other.reached, one.last_used);
  });
  std::vector<size_t> ranks(uses.size());
  for (size_t i = 1; i < order.size(); ++i) {
    const bool same = uses[order[i]].sender == uses[order[i - 1]].sender;
    ranks[order[i]] = same ? ranks[order[i - 1]] + 1 : 0;
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(ranks[b], uses[a].reached, uses[a].last_used) <
           std::tuple(ranks[a], uses[b].reached, uses[b].last_used);
  });
  return order;
}

}  // namespace levee
