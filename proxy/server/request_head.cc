// SPDX-License-Identifier: Apache-2.0
#include "server/request_head.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "wire/priority.h"
#include "wire/timeout.h"
#include "wire/traceparent.h"

namespace levee {
namespace {

constexpr std::string_view kPreviousAttempts = "grpc-previous-rpc-attempts";
constexpr std::string_view kTimeout = "grpc-timeout";
constexpr std::string_view kVia = "via";
constexpr std::string_view kScheme = ":scheme";

// This says how a caller's field goes on in the head of an attempt.
enum class Rewrite { kNone, kDrop, kTrace, kSecured };

Rewrite RewriteOf(const Metadata::Field& field, const AttemptStart& attempt, Direction direction,
                  bool secured, bool begins_trace) {
  // Most names are told apart by their first letter alone.
  switch (field.name[0]) {
    case 'g':
      // Without a time limit the field is there only if it cannot be read: that is for the upstream
      // to judge.
      if (field.name == kTimeout && !attempt.told.is_infinite()) {
        return Rewrite::kDrop;
      }
      return field.name == kPreviousAttempts ? Rewrite::kDrop : Rewrite::kNone;
    case 'l':
      if (field.name == kPriorityHeader && direction == Direction::kEgress) return Rewrite::kNone;
      return field.name.starts_with("levee-") ? Rewrite::kDrop : Rewrite::kNone;
    case 't':
      if (begins_trace) {
        return field.name == kTraceparentHeader || field.name == kTracestateHeader ? Rewrite::kDrop
                                                                                   : Rewrite::kNone;
      }
      return field.name == kTraceparentHeader ? Rewrite::kTrace : Rewrite::kNone;
    case ':':
      return secured && field.name == kScheme ? Rewrite::kSecured : Rewrite::kNone;
    default:
      return Rewrite::kNone;
  }
}

// Text with more digits than the largest count has is not looked at: a field of any length may cost
// its sender one byte.
int ParseCount(std::string_view text) {
  constexpr size_t kMaxDigits = std::numeric_limits<int>::digits10 + 1;
  if (text.size() > kMaxDigits) return 0;
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  // A text that is no number was not sent by a gRPC library's retry.
  const bool valid = error == std::errc() && end == text.data() + text.size() && count > 0;
  return valid ? count : 0;
}

void ReadPseudoHeader(const Metadata::Field& field, RequestHead& head) {
  if (field.name == ":path") {
    head.path = field.value;
  } else if (field.name == ":authority") {
    head.authority = field.value;
  } else if (field.name == ":method") {
    head.method = field.value;
  }
}

std::string_view PartOf(const RateLimitKey& part, const Metadata& head, std::string_view authority,
                        std::string_view peer) {
  switch (part.part()) {
    case RateLimitKey::Part::kMethod:
      return head.Get(":path");
    case RateLimitKey::Part::kAuthority:
      return authority;
    case RateLimitKey::Part::kPeer:
      return peer;
    case RateLimitKey::Part::kHeader:
      return head.Get(part.header());
    case RateLimitKey::Part::kText:
      return part.text();
  }
  return {};
}

}  // namespace

RequestHead ReadRequestHead(const Metadata& fields) {
  RequestHead head;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Metadata::Field field = fields[i];
    switch (field.name[0]) {
      case ':':
        ReadPseudoHeader(field, head);
        break;
      case 'c':
        if (field.name == "content-type") head.content_type = field.value;
        break;
      case 'h':
        // HTTP/2 allows Host in the place of :authority (RFC 9113, section 8.3.1).
        if (field.name == "host" && head.authority.empty()) head.authority = field.value;
        break;
      case 'g':
        if (field.name == kTimeout) {
          head.facts.timeout = ParseGrpcTimeout(field.value).value_or(absl::InfiniteDuration());
        } else if (field.name == kPreviousAttempts) {
          head.facts.previous_attempts = ParseCount(field.value);
        }
        break;
      case 'v':
        if (field.name == kVia) head.has_via = true;
        break;
      default:
        break;
    }
  }
  return head;
}

Hops NewHops(Random& random) {
  const auto via = [&] {
    return absl::StrCat("2 levee-", absl::Hex(random.Next(), absl::kZeroPad16));
  };
  return {{Direction::kEgress, via()}, {Direction::kInbound, via()}};
}

bool HasPassed(const Metadata& head, std::string_view via) {
  for (size_t i = 0; i < head.size(); ++i) {
    if (head[i].name != kVia) continue;
    // A proxy may have joined several into one field. Unlike a string's find, memmem does not begin
    // anew at each byte that looks like the first one.
    const std::string_view value = head[i].value;
    if (memmem(value.data(), value.size(), via.data(), via.size()) != nullptr) return true;
  }
  return false;
}

LimitKey KeyOf(const std::vector<RateLimitKey>& parts, const Metadata& head,
               std::string_view authority, std::string_view peer) {
  LimitKey key;
  for (const RateLimitKey& part : parts) {
    key.Add(part.entry(), PartOf(part, head, authority, peer));
  }
  return key;
}

bool LacksKey(const Metadata& head, std::string_view header) {
  for (size_t i = 0; i < head.size(); ++i) {
    if (head[i].name != header) continue;
    const std::string_view value = head[i].value;
    if (std::any_of(value.begin(), value.end(), absl::ascii_isgraph)) return false;
  }
  return true;
}

std::string_view DedupeFault(const DedupePolicy& policy, const Metadata& head) {
  const size_t keys = head.Count(policy.header);
  if (keys == 0) {
    return policy.required ? "the call needs an idempotency key, in the header that dedupe.header "
                             "of the service's policy names"
                           : std::string_view();
  }
  if (keys > 1) return "the call has more than one idempotency key";
  if (LacksKey(head, policy.header)) return "the call's idempotency key is blank";
  if (head.Get(policy.header).size() > kLongestDedupeKey) {
    return "the call's idempotency key has more than 256 bytes";
  }
  for (const RateLimitKey& part : policy.scope) {
    if (part.part() != RateLimitKey::Part::kHeader || head.Count(part.header()) <= 1) continue;
    return "the call has more than one value of a header that its idempotency key depends on";
  }
  return {};
}

LimitKey DedupeKeyOf(const DedupePolicy& policy, const Metadata& head, std::string_view authority,
                     std::string_view peer) {
  const std::string_view value = head.Get(policy.header);
  if (value.empty()) return LimitKey();
  LimitKey key = KeyOf(policy.scope, head, authority, peer);
  const absl::string_view stripped = absl::StripAsciiWhitespace(Abseil(value));
  key.Add(policy.header, {stripped.data(), stripped.size()});
  return key;
}

KeyOwner DedupeOwnerOf(const DedupePolicy& policy, const Metadata& head, std::string_view authority,
                       uint64_t sender) {
  const auto is_header = [](const RateLimitKey& part) {
    return part.part() == RateLimitKey::Part::kHeader;
  };
  const bool by_headers = std::ranges::any_of(policy.scope, is_header);
  KeyOwner owner{.sender = sender};
  for (const RateLimitKey& part : policy.scope) {
    if (by_headers && !is_header(part)) continue;
    owner.scope = absl::HashOf(owner.scope, Abseil(PartOf(part, head, authority, /*peer=*/"")));
  }
  return owner;
}

// Above 6 parameters: each decides about other fields of the head.
void WriteAttemptHead(const Metadata& request, const AttemptStart& attempt, Instant now,
                      const Hop& hop, bool secured, const CallTrace* trace, Random& random,
                      Metadata& to) {
  const bool begins_trace = trace != nullptr && trace->begun_here();
  size_t copied = 0;  // fields of the request
  for (size_t i = 0; i < request.size(); ++i) {
    const Metadata::Field field = request[i];
    const Rewrite rewrite = RewriteOf(field, attempt, hop.direction, secured, begins_trace);
    if (rewrite == Rewrite::kNone) continue;
    if (rewrite == Rewrite::kTrace && TraceIdOf(request).empty()) continue;
    to.AddFrom(request, copied, i);
    copied = i + 1;
    if (rewrite == Rewrite::kSecured) to.Add(kScheme, "https");
    if (rewrite == Rewrite::kTrace) {
      const uint64_t span_id =
          trace != nullptr ? trace->AttemptSpanId(attempt.record) : NewSpanId(random);
      to.Add(field.name, WithParentId(field.value, span_id), field.never_index);
    }
  }
  to.AddFrom(request, copied, request.size());
  to.Add(kVia, hop.via);
  // The fields that differ from call to call come last, so that the encoder knows all others.
  if (begins_trace) to.Add(kTraceparentHeader, trace->AttemptTraceparent(attempt.record));
  if (!attempt.told.is_infinite()) {
    to.Add(kTimeout, GrpcTimeoutText(attempt.told - now).view());
  }
  if (attempt.previous_attempts > 0) {
    char text[12];
    const auto end = std::to_chars(text, text + sizeof text, attempt.previous_attempts).ptr;
    to.Add(kPreviousAttempts, {text, static_cast<size_t>(end - text)});
  }
}

}  // namespace levee
