// SPDX-License-Identifier: Apache-2.0
#include "server/call_tie.h"

#include <algorithm>
#include <utility>

#include "base/about_deadline.h"
#include "wire/priority.h"
#include "wire/traceparent.h"

namespace levee {

void CallTie::Serve(Metadata& request, absl::Duration timeout, std::string_view priority,
                    Instant now) {
  begun_ = now;
  deadline_ = now + timeout;
  TieEvent event = TieEvent::kCallTied;
  if (TraceIdOf(request).empty()) {
    if (request.Has(kTraceparentHeader)) {
      environment_.series.guard_headers_ignored[GuardHeader::kTraceparent].Add();
    }
    request.Remove(kTraceparentHeader);
    request.Remove(kTracestateHeader);
    request.Add(kTraceparentHeader, NewTraceparent(environment_.random));
    event = TieEvent::kTraceAdded;
  }
  trace_ = environment_.ties.NumberOf(TraceIdOf(request));
  place_ = table_.Enter(trace_, deadline_, priority, now);
  Count(place_ ? event : TieEvent::kNoPlace);
}

std::optional<OverloadMark> CallTie::EndServing(StatusCode code, bool caller_left, Instant now) {
  if (!place_) return std::nullopt;
  const bool gone = caller_left || (code == StatusCode::kDeadlineExceeded &&
                                    IsAboutDeadline(now, begun_, deadline_));
  std::optional<Instant> gone_since;
  if (gone && policy_.cancel) {
    gone_since = now;
  } else if (gone && policy_.deadline && !deadline_.is_infinite()) {
    gone_since = deadline_;
  }
  std::optional<OverloadMark> mark = table_.Leave(std::exchange(place_, {}), gone_since, now);
  if (gone && policy_.cancel) environment_.ties.TellGone(trace_);
  if (!mark.has_value() || code == StatusCode::kOk || caller_left) return std::nullopt;
  mark->hops = std::min(mark->hops + 1, kMaxOverloadHops);
  Count(TieEvent::kMarkPassed);
  return mark;
}

void CallTie::Follow(Metadata& request, RequestFacts& facts, Instant now) {
  const std::string_view trace_id = TraceIdOf(request);
  if (trace_id.empty()) return;
  trace_ = environment_.ties.NumberOf(trace_id);
  const std::optional<TieTable::Served> served = table_.Find(trace_, now);
  follows_ = served.has_value();
  if (!follows_) return;
  if (policy_.priority) TakePriority(served->priority, request);
  facts.in_vain = policy_.cancel && served->gone;
  if (facts.in_vain) Count(TieEvent::kCancelled);
  const absl::Duration left = std::max(served->deadline - now, absl::ZeroDuration());
  if (policy_.deadline && left < facts.timeout) {
    facts.timeout = left;
    Count(TieEvent::kDeadlineTaken);
  }
}

void CallTie::TakePriority(const std::string& priority, Metadata& request) {
  if (priority.empty()) return;
  const bool own = request.Has(kPriorityHeader);
  Count(own ? TieEvent::kPriorityOwn : TieEvent::kPriorityTaken);
  if (!own) request.Add(kPriorityHeader, priority);
}

bool CallTie::IsInVain(Instant now) {
  const std::optional<TieTable::Served> served = table_.Find(trace_, now);
  const bool in_vain = served.has_value() && served->gone;
  if (in_vain) Count(TieEvent::kCancelled);
  return in_vain;
}

void CallTie::EndFollowing(const OverloadMark& mark) {
  if (!follows_ || !policy_.mark || mark.scope != OverloadScope::kService) return;
  if (table_.Mark(trace_, mark)) Count(TieEvent::kMarkKept);
}

}  // namespace levee
