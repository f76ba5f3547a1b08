// SPDX-License-Identifier: Apache-2.0
#include "store/lease_script.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/hex_sha256.h"
#include "base/text.h"

namespace levee {
namespace {

// Counts microseconds. Times since 1970 leave a double a quarter of one, which is a permit at a
// rate of four million per second. KEYS[1] holds the theoretical arrival time. A clock that has
// gone back, as after a failover, could leave it far ahead, so it is never more than the burst
// ahead.
constexpr std::string_view kLeaseBody = R"lua(
local permit, burst, want, refund = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local span = burst * permit
local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) - refund * permit
tat = math.min(math.max(tat, now), now + span)
local granted = math.min(want, math.floor((now + span - tat) / permit + 0.000001))
tat = tat + granted * permit
redis.call('SET', KEYS[1], string.format('%.3f', tat), 'PX', math.max(1, math.ceil((tat - now) / 1000)))
local wait = 0
if granted < want then wait = math.max(0, math.ceil(tat + permit - span - now)) end
return {granted, wait}
)lua";

}  // namespace

const RedisScript& LeaseScript() {
  static const RedisScript script(kLeaseBody);
  return script;
}

std::string LeaseKey(std::string_view prefix, std::string_view limit, std::string_view key,
                     bool shared_bucket) {
  constexpr size_t kLongest = 256;
  const std::string start = absl::StrCat(Abseil(prefix), "rate:", Abseil(limit));
  if (shared_bucket) return absl::StrCat(start, "/others");
  if (key.size() > kLongest) return absl::StrCat(start, "#", HexSha256(key));
  return absl::StrCat(start, ":", Abseil(key));
}

std::vector<std::string> LeaseArguments(const LeaseRule& rule, const LeaseRequest& request) {
  return {absl::StrFormat("%.17g", 1e6 / rule.per_second), absl::StrCat(rule.StoreBurst()),
          absl::StrCat(request.want), absl::StrCat(request.refund)};
}

absl::StatusOr<LeaseGrant> ReadLeaseReply(const RedisReply& reply, int64_t want) {
  using Kind = RedisReply::Kind;
  if (reply.kind == Kind::kError) return absl::InternalError(reply.text);
  if (reply.kind != Kind::kList || reply.list.size() != 2 || reply.list[0].kind != Kind::kInteger ||
      reply.list[1].kind != Kind::kInteger || reply.list[0].integer < 0 ||
      reply.list[0].integer > want || reply.list[1].integer < 0) {
    return absl::InternalError("the script's reply is not of its form");
  }
  return LeaseGrant{.granted = reply.list[0].integer,
                    .wait = absl::Microseconds(reply.list[1].integer)};
}

}  // namespace levee
