// SPDX-License-Identifier: Apache-2.0
#include "wire/late_sniff.h"

#include "wire/first_bytes.h"

namespace levee {

Late LateSniff::Look(const Heard& heard, Instant now) {
  // The caller's bytes decide alone: it has not heard the destination.
  const bool caller_spoke = !heard.caller.empty();
  const Http2Begins begins =
      caller_spoke ? BeginsPreface(heard.caller) : BeginsSettings(heard.destination);
  if (caller_spoke && begins == Http2Begins::kYes) return Late::kHttp2;
  if (begins == Http2Begins::kNo || heard.ended) return Late::kPassOn;
  if (caller_spoke) return HoldFor(kUnfinished, caller_since_, now);
  if (heard.destination.empty()) return Late::kHold;
  return HoldFor(begins == Http2Begins::kYes ? kSettings : kUnfinished, destination_since_, now);
}

Late LateSniff::HoldFor(absl::Duration time, std::optional<Instant>& since, Instant now) {
  if (!since.has_value()) since = now;
  due_ = *since + time;
  return now < due_ ? Late::kHold : Late::kPassOn;
}

}  // namespace levee
