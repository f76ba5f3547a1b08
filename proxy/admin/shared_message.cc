// SPDX-License-Identifier: Apache-2.0
#include "admin/shared_message.h"

#include <algorithm>
#include <string>
#include <vector>

#include "admin/message_count.h"
#include "admin/state_message.h"
#include "insight/history.h"
#include "telemetry/exposition.h"
#include "telemetry/series.h"

namespace levee {
namespace {

void AddNodes(std::vector<StoreView::Node> nodes, admin::v1::Store& message) {
  if (nodes.size() > kMaxStoreNodes) {
    std::stable_partition(nodes.begin(), nodes.end(), [](const auto& node) { return !node.ready; });
    message.set_nodes_left_out(static_cast<uint32_t>(nodes.size() - kMaxStoreNodes));
    nodes.resize(kMaxStoreNodes);
  }
  for (const StoreView::Node& node : nodes) {
    admin::v1::Store::Node& added = *message.add_nodes();
    added.set_address(ShownText(node.address));
    added.set_ready(node.ready);
    added.set_failure(ShownText(node.failure));
  }
}

admin::v1::SharedLimit LimitMessage(const LimitView& view) {
  admin::v1::SharedLimit message;
  message.set_policy(view.policy);
  message.set_limit(view.limit);
  message.set_store(view.store);
  message.set_state(std::string(LeaseStateName(view.state)));
  message.set_on_failure(view.on_failure);
  if (view.per_second.has_value()) message.set_per_second(*view.per_second);
  if (view.permits_left.has_value()) message.set_permits_left(Count(*view.permits_left));
  message.set_keys(Count(int64_t{view.keys}));
  return message;
}

}  // namespace

admin::v1::Store StoreMessage(const StoreView& store, const StoreRecord::Past& past,
                              const SidecarView::Facts& facts) {
  admin::v1::Store message;
  message.set_name(store.name);
  message.set_kind(std::string(StoreKindName(store.kind)));
  message.set_connected(store.connected);
  message.set_since(WallSeconds(facts.started_at + (store.since - facts.started)));
  message.set_failure(ShownText(store.failure));
  AddNodes(store.nodes, message);
  for (const StoreResult result : kAllOf<StoreResult, kStoreResults>) {
    const auto requests = static_cast<double>(past.added.requests[result]);
    if (requests == 0) continue;
    (*message.mutable_requests_per_second())[std::string(StoreResultName(result))] =
        requests / past.seconds;
  }
  message.set_p50_seconds(absl::ToDoubleSeconds(Percentile(past.added.durations, 0.5)));
  message.set_p99_seconds(absl::ToDoubleSeconds(Percentile(past.added.durations, 0.99)));
  return message;
}

void AddLimits(const SidecarView& view, admin::v1::Sidecar& sidecar) {
  for (const auto& [limit, state] : view.Leases()) {
    (*sidecar.mutable_leases())[limit] = std::string(LeaseStateName(state));
  }
  for (const LimitView& limit : view.Limits()) *sidecar.add_shared_limits() = LimitMessage(limit);
}

void AddKeys(const SidecarView& view, admin::v1::Sidecar& sidecar) {
  const auto totals = view.facts().metrics.Dedupes();
  for (const auto& [upstream, gauges] : view.Keys()) {
    admin::v1::Keys& keys = (*sidecar.mutable_keys())[upstream];
    keys.set_keys(Count(uint64_t{gauges.keys}));
    keys.set_bytes(static_cast<double>(gauges.bytes));
    keys.set_in_flight(Count(uint64_t{gauges.in_flight}));
    const auto counted = totals.find(upstream);
    if (counted == totals.end()) continue;
    for (const DedupeResult result : kAllOf<DedupeResult, kDedupeResults>) {
      const uint64_t calls = counted->second[result];
      if (calls == 0) continue;
      (*keys.mutable_results())[std::string(DedupeResultName(result))] = Count(calls);
    }
  }
}

}  // namespace levee
