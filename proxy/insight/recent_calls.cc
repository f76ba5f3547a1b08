// SPDX-License-Identifier: Apache-2.0
#include "insight/recent_calls.h"

#include <utility>

namespace levee {

bool RecentCalls::Wants(const CallRecord& record) {
  return record.attempts.size() > 1 || record.refused.has_value() || record.app_retry_refused ||
         record.rate_limit.refused_by >= 0;
}

void RecentCalls::Add(const AccessLogFacts& facts, const CallRecord& record,
                      AccessLogFormatter::EndpointNames endpoint_name) {
  std::string_view method = facts.path;
  if (method.starts_with('/')) method.remove_prefix(1);
  const std::lock_guard lock(mutex_);
  if (calls_.size() < kKept) calls_.emplace_back();
  RememberedCall& call = calls_[added_++ % kKept];
  call.start = facts.start;
  call.record = record;
  call.endpoints.resize(record.attempts.size());
  for (size_t i = 0; i < record.attempts.size(); ++i) {
    const int64_t endpoint = record.attempts[i].endpoint;
    call.endpoints[i] = endpoint >= 0 ? endpoint_name(endpoint) : std::string();
  }
  call.listener.assign(facts.listener);
  call.upstream.assign(facts.upstream);
  call.authority.assign(facts.authority);
  call.method.assign(method);
  call.message.assign(facts.message);
  call.trace_id.assign(facts.trace_id);
}

std::vector<RememberedCall> RecentCalls::Read(Instant after) const {
  std::vector<RememberedCall> found;
  found.reserve(kKept);
  uint64_t number = 0, end = 0;
  {
    const std::lock_guard lock(mutex_);
    end = added_;
    number = end - calls_.size();
  }
  for (; number < end; ++number) {
    const std::lock_guard lock(mutex_);
    const bool overwritten = added_ - number > kKept;
    const RememberedCall& call = calls_[number % kKept];
    if (!overwritten && call.record.end > after) found.push_back(call);
  }
  return found;
}

}  // namespace levee
