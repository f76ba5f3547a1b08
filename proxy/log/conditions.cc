// SPDX-License-Identifier: Apache-2.0
#include "log/conditions.h"

#include <utility>
#include <vector>

#include "log/event_log.h"

namespace levee {
namespace {

// Which events tell of a condition, and what its owner and its subject are called in them.
struct ConditionFacts {
  EventKind begun;
  EventKind ended;
  std::string_view owner;
  std::string_view subject;
};

constexpr std::array<ConditionFacts, kConditionKinds> kFacts = {{
    {EventKind::kEndpointUnreachable, EventKind::kEndpointReachable, "upstream", "endpoint"},
    {EventKind::kEndpointEjected, EventKind::kEndpointReturned, "upstream", "endpoint"},
    {EventKind::kBudgetExhausted, EventKind::kBudgetRecovered, "upstream", "authority"},
    {EventKind::kGuardRefusing, EventKind::kGuardCalm, "upstream", ""},
    {EventKind::kStoreAway, EventKind::kStoreBack, "store", ""},
    {EventKind::kOtlpAway, EventKind::kOtlpBack, "receiver", ""},
    {EventKind::kWorkloadApiAway, EventKind::kWorkloadApiBack, "socket", ""},
}};

const ConditionFacts& FactsOf(ConditionKind kind) { return kFacts[static_cast<size_t>(kind)]; }

std::vector<LogField> Fields(const ConditionFacts& facts, const std::string& owner,
                             const std::string& subject) {
  std::vector<LogField> fields = {{facts.owner, owner}};
  if (!subject.empty()) fields.emplace_back(facts.subject, subject);
  return fields;
}

}  // namespace

Conditions::Entry Conditions::Hold(ConditionKind kind, std::string_view owner,
                                   std::string_view subject, Instant now) {
  const std::lock_guard lock(mutex_);
  const auto [entry, first] =
      lasting_.try_emplace(Key(kind, std::string(owner), std::string(subject)));
  if (first) entry->second.since = now;
  ++entry->second.holders;
  return entry;
}

void Conditions::Report(Entry entry, std::string_view reason, const std::vector<LogField>& numbers,
                        Instant now) {
  const std::lock_guard lock(mutex_);
  const auto& [kind, owner, subject] = entry->first;
  EventLimiter& limiter = limiters_[static_cast<size_t>(kind)];
  Lasting& lasting = entry->second;
  if (lasting.written) return;
  if (!limiter.Admit(now)) {
    if (!std::exchange(lasting.suppressed, true)) limiter.Suppress();
    return;
  }
  lasting.written = true;
  const ConditionFacts& facts = FactsOf(kind);
  std::vector<LogField> fields = Fields(facts, owner, subject);
  if (!reason.empty()) fields.emplace_back("reason", reason);
  fields.insert(fields.end(), numbers.begin(), numbers.end());
  if (const uint64_t suppressed = limiter.TakeSuppressed(); suppressed > 0) {
    fields.emplace_back("suppressed", suppressed);
  }
  log_.Write(facts.begun, [&] { return std::move(fields); });
}

void Conditions::Release(Entry entry, bool ended, int64_t refused, Instant now) {
  const std::lock_guard lock(mutex_);
  entry->second.refused += refused;
  if (--entry->second.holders > 0) return;
  const auto& [kind, owner, subject] = entry->first;
  if (ended && entry->second.written) {
    const ConditionFacts& facts = FactsOf(kind);
    std::vector<LogField> fields = Fields(facts, owner, subject);
    fields.emplace_back("seconds", (now - entry->second.since) / absl::Seconds(1));
    if (entry->second.refused > 0) fields.emplace_back("refused", entry->second.refused);
    log_.Write(facts.ended, [&] { return std::move(fields); });
  }
  lasting_.erase(entry);
}

void Condition::Report(EventLog& log, std::string_view owner, std::string_view subject,
                       std::string_view reason, Instant now, const std::vector<LogField>& numbers) {
  if (!log.Enabled(FactsOf(kind_).begun)) return;
  if (conditions_ == nullptr) {
    conditions_ = &log.conditions();
    entry_ = conditions_->Hold(kind_, owner, subject, now);
  }
  conditions_->Report(entry_, reason, numbers, now);
}

void Condition::LetGo(bool ended, int64_t refused, Instant now) {
  if (Conditions* const conditions = std::exchange(conditions_, nullptr)) {
    conditions->Release(entry_, ended, refused, now);
  }
}

}  // namespace levee
