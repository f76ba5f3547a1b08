// SPDX-License-Identifier: Apache-2.0
#include "config/room_warnings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "config/load.h"

namespace levee {
namespace {

std::string Mebibytes(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

// Returns what the largest store of idempotency keys may take, and the field that says so.
std::pair<int64_t, std::string> LargestStore(const Snapshot& snapshot, const Positions& positions) {
  std::pair<int64_t, std::string> largest;
  for (size_t i = 0; i < snapshot.policies.size(); ++i) {
    const std::optional<DedupePolicy>& dedupe = snapshot.policies[i].dedupe;
    if (!dedupe.has_value()) continue;
    std::string field = absl::StrCat("policies[", i, "].guard.dedupe");
    if (positions.Has(field + ".max_bytes")) field += ".max_bytes";
    largest = std::max(largest, {dedupe->max_bytes, std::move(field)});
  }
  return largest;
}

void CompareMemory(const Snapshot& snapshot, const Positions& positions, int64_t memory,
                   FaultList& warnings) {
  const Limits& limits = snapshot.limits;
  if (positions.Has("limits.memory") && limits.memory > MemoryAccount::LimitOf(memory)) {
    warnings.Add(positions.Find("limits.memory"), CheckCode::kMemoryAboveContainer,
                 absl::StrCat(Mebibytes(limits.memory), " is more than three quarters of the ",
                              Mebibytes(memory),
                              " that the container has, so the system may end the sidecar first; "
                              "leave the field out, or say less"));
  }
  const MemoryPlan plan = PlanMemory(snapshot, memory);
  if (plan.sum() <= plan.full()) return;
  const auto [bytes, field] = std::max({
      std::pair(plan.connections, std::string("limits.connections")),
      std::pair(plan.replay, std::string("limits.replay_bytes")),
      LargestStore(snapshot, positions),
  });
  if (!positions.Has(field)) return;
  warnings.Add(
      positions.Find(field), CheckCode::kLimitsAboveMemory,
      absl::StrCat("takes up to ", Mebibytes(bytes), ", with the others ", Mebibytes(plan.sum()),
                   "; of ", Mebibytes(plan.limit), " (limits.memory) calls end from ",
                   Mebibytes(plan.full()), " on; say less, or give the container more"));
}

}  // namespace

MemoryPlan PlanMemory(const Snapshot& snapshot, int64_t memory) {
  const Limits& limits = snapshot.limits;
  const bool tls = absl::c_any_of(snapshot.listeners,
                                  [](const ListenerSpec& spec) { return spec.tls != nullptr; });
  int64_t answers = 0;
  for (const CallPolicy& policy : snapshot.policies) {
    if (policy.dedupe.has_value()) answers += policy.dedupe->max_bytes;
  }
  const int64_t of_connection = MemoryPlan::kOfConnection + (tls ? MemoryPlan::kOfTls : 0);
  return {.limit = limits.memory > 0 ? limits.memory : MemoryAccount::LimitOf(memory),
          .connections = limits.connections * of_connection,
          .handshakes = tls ? limits.handshakes * MemoryPlan::kOfHandshake : 0,
          .replay = limits.replay_bytes,
          .answers = answers};
}

std::string FormatPlan(const MemoryPlan& plan, int64_t memory) {
  std::string text =
      absl::StrCat("memory of ", Mebibytes(memory), ": limits.memory is ", Mebibytes(plan.limit),
                   "; windows shrink from ", Mebibytes(plan.tight()), " on, calls end from ",
                   Mebibytes(plan.full()), " on\n");
  const auto add = [&text](const char* what, int64_t bytes) {
    absl::StrAppend(&text, absl::StrFormat("%10s  %s\n", Mebibytes(bytes), what));
  };
  add("the sidecar itself", MemoryPlan::kOwn);
  add("idle connections of callers (limits.connections)", plan.connections);
  if (plan.handshakes > 0) add("TLS handshakes with callers (limits.handshakes)", plan.handshakes);
  add("bodies kept for retries (limits.replay_bytes)", plan.replay);
  if (plan.answers > 0) add("answers kept by idempotency keys (dedupe.max_bytes)", plan.answers);
  add("header blocks that have begun, of one worker", MemoryPlan::kHeaderBlocks);
  add("routes of calls seen before, of one worker", MemoryPlan::kRoutes);
  const int64_t rest = plan.full() - plan.sum();
  if (rest >= 0) {
    add("left for calls when all of these are used", rest);
  } else {
    add("more than there is when all of these are used", -rest);
  }
  return text;
}

int64_t DefaultConnections() {
  const auto defaults = ParseConfig("", "{}");
  return defaults.ok() ? (*defaults)->limits.connections : 0;
}

void FindRoomWarnings(const Snapshot& snapshot, const Positions& positions, const Room& room,
                      FaultList& warnings) {
  const Limits& limits = snapshot.limits;
  if (room.memory > 0) CompareMemory(snapshot, positions, room.memory, warnings);
  if (room.descriptors > 0 && positions.Has("limits.connections") &&
      limits.connections > room.descriptors && limits.connections != DefaultConnections()) {
    warnings.Add(positions.Find("limits.connections"), CheckCode::kFewDescriptors,
                 absl::StrCat("is more than the ", room.descriptors,
                              " descriptors that callers may have here (RLIMIT_NOFILE); raise that "
                              "limit where Levee runs, or say less"));
  }
}

}  // namespace levee
