// SPDX-License-Identifier: Apache-2.0
#include "insight/recent_calls.h"

#include <algorithm>

namespace levee {

bool RecentCalls::Wants(const CallRecord& record) {
  return record.attempts.size() > 1 || !record.waits.empty() || record.refused.has_value() ||
         record.app_retry_refused || record.rate_limit.refused_by >= 0 ||
         record.guard.decision == GuardDecision::kRefused || record.ended_by.has_value();
}

void RecentCalls::Add(const AccessLogFacts& facts, const CallRecord& record,
                      AccessLogFormatter::EndpointNames endpoint_name) {
  std::string_view method = facts.path;
  if (method.starts_with('/')) method.remove_prefix(1);
  const std::lock_guard lock(mutex_);
  if (!gate_.Admit(KindOf(record), record.end)) return;
  if (calls_.size() < kKept) calls_.emplace_back();
  RememberedCall& call = calls_[added_ % kKept];
  call.id = ++added_;
  call.start = facts.start;
  call.record = record;
  call.endpoints.resize(record.attempts.size());
  for (size_t i = 0; i < record.attempts.size(); ++i) {
    const int64_t endpoint = record.attempts[i].endpoint;
    call.endpoints[i] = endpoint >= 0 ? endpoint_name(endpoint) : std::string();
  }
  call.listener.assign(facts.listener);
  call.upstream.assign(facts.upstream.substr(0, kTextBytes));
  call.authority.assign(facts.authority.substr(0, kTextBytes));
  call.method.assign(method.substr(0, kTextBytes));
  call.message.assign(facts.message.substr(0, kTextBytes));
  call.trace_id.assign(facts.trace_id);
}

std::vector<RememberedCall> RecentCalls::Read(uint64_t after) const {
  std::vector<RememberedCall> found;
  uint64_t last = 0;
  {
    const std::lock_guard lock(mutex_);
    last = added_;
    after = std::max(after, last - calls_.size());
  }
  for (uint64_t id = after + 1; id <= last; ++id) {
    const std::lock_guard lock(mutex_);
    const RememberedCall& call = calls_[(id - 1) % kKept];
    if (call.id == id) found.push_back(call);  // Otherwise a newer call has its place by now.
  }
  return found;
}

}  // namespace levee
