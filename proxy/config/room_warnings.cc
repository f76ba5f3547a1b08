// SPDX-License-Identifier: Apache-2.0
#include "config/room_warnings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "config/load.h"
#include "settings/dedupe_room.h"

namespace levee {
namespace {

std::string Mebibytes(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

// A field that was given, and what it may take.
struct Given {
  int64_t bytes = 0;
  std::string field;
};

std::string MaxBytesField(int policy) {
  return absl::StrCat("policies[", policy, "].guard.dedupe.max_bytes");
}

// Returns what a table of keys may take of a sidecar with this limit.
int64_t BytesOfKeys(const Snapshot& snapshot, const DedupeTableName& table, int64_t limit) {
  const CallPolicy& policy = snapshot.policies[static_cast<size_t>(table.second)];
  return std::min(policy.dedupe->max_bytes, DedupeRoom(snapshot, limit));
}

std::vector<Given> GivenParts(const Snapshot& snapshot, const MemoryPlan& plan,
                              const Positions& positions) {
  std::vector<Given> given;
  const auto add = [&](int64_t bytes, std::string field) {
    if (positions.Has(field)) given.push_back({bytes, std::move(field)});
  };
  add(plan.connections, "limits.connections");
  add(plan.replay, "limits.replay_bytes");
  std::map<int, int64_t> keys;
  for (const DedupeTableName& table : DedupeTablesOf(snapshot)) {
    keys[table.second] += BytesOfKeys(snapshot, table, plan.limit);
  }
  for (const auto& [policy, bytes] : keys) add(bytes, MaxBytesField(policy));
  return given;
}

// The limit of which the sidecar will take a share; 0: nobody knows here.
int64_t MemoryLimitOf(const Snapshot& snapshot, int64_t memory) {
  if (snapshot.limits.memory > 0) return snapshot.limits.memory;
  return memory > 0 ? MemoryAccount::LimitOf(memory) : 0;
}

// A default is cut without a word.
void WarnOfKeys(const Snapshot& snapshot, const Positions& positions, int64_t limit,
                FaultList& warnings) {
  const int64_t room = DedupeRoom(snapshot, limit);
  std::set<int> policies;
  const std::set<DedupeTableName> tables = DedupeTablesOf(snapshot);
  for (const DedupeTableName& table : tables) policies.insert(table.second);
  for (const int policy : policies) {
    const std::string field = MaxBytesField(policy);
    const int64_t given = snapshot.policies[static_cast<size_t>(policy)].dedupe->max_bytes;
    if (!positions.Has(field) || given <= room) continue;
    const std::string each =
        tables.size() > 1 ? absl::StrCat(", and there are ", tables.size()) : "";
    warnings.Add(
        positions.Find(field), CheckCode::kKeysAboveMemory,
        absl::StrCat(Mebibytes(given), " is more than the ", Mebibytes(room),
                     " that its keys get: tables of keys take a quarter of ", Mebibytes(limit),
                     " (limits.memory) together", each, "; say less, or give the sidecar more"));
  }
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
  // A default gives way without a word.
  const std::vector<Given> given = GivenParts(snapshot, plan, positions);
  int64_t sum = MemoryPlan::kOwn + MemoryPlan::kHeaderBlocks + MemoryPlan::kRoutes;
  for (const Given& part : given) sum += part.bytes;
  if (given.empty() || sum <= plan.full()) return;
  const auto& [bytes, field] = *std::max_element(
      given.begin(), given.end(), [](const Given& x, const Given& y) { return x.bytes < y.bytes; });
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
  const int64_t limit = MemoryLimitOf(snapshot, memory);
  int64_t answers = 0;
  for (const DedupeTableName& table : DedupeTablesOf(snapshot)) {
    answers += BytesOfKeys(snapshot, table, limit);
  }
  const int64_t of_connection = MemoryPlan::kOfConnection + (tls ? MemoryPlan::kOfTls : 0);
  return {.limit = limit,
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
  if (const int64_t limit = MemoryLimitOf(snapshot, room.memory); limit > 0) {
    WarnOfKeys(snapshot, positions, limit, warnings);
  }
  if (room.descriptors > 0 && positions.Has("limits.connections") &&
      limits.connections > room.descriptors && limits.connections != DefaultConnections()) {
    warnings.Add(positions.Find("limits.connections"), CheckCode::kFewDescriptors,
                 absl::StrCat("is more than the ", room.descriptors,
                              " descriptors that callers may have here (RLIMIT_NOFILE); raise that "
                              "limit where Levee runs, or say less"));
  }
}

}  // namespace levee
