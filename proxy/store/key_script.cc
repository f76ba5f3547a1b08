// SPDX-License-Identifier: Apache-2.0
#include "store/key_script.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/hex_sha256.h"
#include "base/text.h"
#include "store/redis_script.h"

namespace levee {
namespace {

// A value is: 'o' (open) or 'e' (ended); '1' with a digest, '0' without; the token; ttl in
// milliseconds, 13 digits; the digest; the answer.
constexpr size_t kToken = KeyCommand::kTokenSize;
constexpr size_t kTtl = 13;
constexpr size_t kHead = 2 + kToken + kTtl;

// Of a key that is not free: KEYS[1]; the value of a claim, its life, '1' if a lost call may run
// again, the digest of the request or ''. Returns 1 if the claim is made, else the value and its
// life.
constexpr std::string_view kAskBody = R"lua(
local v = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
local free = not v
if v and ARGV[3] == '1' and ARGV[4] ~= '' and string.sub(v, 1, 1) == 'o' then
  local same = string.sub(v, 2, 2) == '0' or string.sub(v, 32, 63) == ARGV[4]
  free = same and left <= tonumber(string.sub(v, 19, 31))
end
if not free then return {v, left} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
)lua";

// Of an own claim: KEYS[1]; the token, the new value or '' for none, its life, '1' if the key may
// be gone. Returns whether the claim stood.
constexpr std::string_view kPutBody = R"lua(
local v = redis.call('GETRANGE', KEYS[1], 0, 17)
if v == '' then
  if ARGV[4] ~= '1' then return 0 end
elseif string.sub(v, 1, 1) ~= 'o' or string.sub(v, 3, 18) ~= ARGV[1] then
  return 0
end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return 1
)lua";

const RedisScript& AskScript() {
  static const RedisScript script(kAskBody);
  return script;
}

const RedisScript& PutScript() {
  static const RedisScript script(kPutBody);
  return script;
}

std::string NameOf(std::string_view prefix, const KeyCommand& command) {
  return absl::StrCat(Abseil(prefix), "key:", HexSha256(command.name));
}

std::string TextOf(const Sha256& digest) {
  return std::string(reinterpret_cast<const char*>(digest.data()), digest.size());
}

std::string ValueOf(const KeyCommand& command) {
  std::string value = absl::StrFormat(
      "%c%c%s%0*d", command.answer == nullptr ? 'o' : 'e', command.digest.has_value() ? '1' : '0',
      command.token, static_cast<int>(kTtl), absl::ToInt64Milliseconds(command.ttl));
  if (command.digest.has_value()) value += TextOf(*command.digest);
  if (command.answer != nullptr) value += command.answer->text();
  return value;
}

// In milliseconds.
std::string LifeOf(const KeyCommand& command) {
  const absl::Duration open = command.claim + command.ttl;
  return absl::StrCat(absl::ToInt64Milliseconds(command.answer == nullptr ? open : command.ttl));
}

// nullopt: it is no value of this form.
std::optional<KeyClaim> ReadValue(std::string_view value, absl::Duration left, Instant now) {
  int64_t ttl = 0;
  if (value.size() < kHead || (value[0] != 'o' && value[0] != 'e') ||
      !absl::SimpleAtoi(Abseil(value.substr(2 + kToken, kTtl)), &ttl)) {
    return std::nullopt;
  }
  KeyClaim claim;
  claim.token = value.substr(2, kToken);
  claim.until = now + (left - absl::Milliseconds(ttl));
  claim.expires = now + left;
  std::string_view rest = value.substr(kHead);
  if (value[1] == '1') {
    Sha256 digest;
    if (rest.size() < digest.size()) return std::nullopt;
    std::memcpy(digest.data(), rest.data(), digest.size());
    claim.digest = digest;
    rest.remove_prefix(digest.size());
  }
  if (value[0] == 'o') return claim;
  claim.answer = StoredAnswer::Read(rest);
  if (claim.answer == nullptr) return std::nullopt;
  return claim;
}

absl::StatusOr<KeyReply> ReadAskReply(const RedisReply& reply, Instant now) {
  using Kind = RedisReply::Kind;
  if (reply.kind == Kind::kError) return absl::InternalError(reply.text);
  if (reply.kind == Kind::kInteger) return KeyReply{.done = true};
  if (reply.kind == Kind::kList && reply.list.size() == 2) {
    auto claim = ReadValue(reply.list[0].text, absl::Milliseconds(reply.list[1].integer), now);
    if (claim.has_value()) return KeyReply{.claim = std::move(claim)};
  }
  return absl::InternalError("what the store has is no idempotency key of this version");
}

// A question, until it has its answer.
struct Asked {
  RedisClient& client;
  std::string name;
  std::vector<std::string> args;
  absl::AnyInvocable<Instant()> now;
  RedisKeys::Done done;

  void OnClaimed(const absl::StatusOr<RedisReply>& reply, std::unique_ptr<Asked> self) {
    if (!reply.ok()) return done(reply.status());
    if (reply->kind == RedisReply::Kind::kError) return done(absl::InternalError(reply->text));
    if (reply->kind == RedisReply::Kind::kStatus) return done(KeyReply{.done = true});
    client.Run(AskScript(), name, args,
               [self = std::move(self)](const absl::StatusOr<RedisReply>& seen) {
                 self->done(seen.ok() ? ReadAskReply(*seen, self->now())
                                      : absl::StatusOr<KeyReply>(seen.status()));
               });
  }
};

void Ask(RedisClient& client, const std::string& name, const KeyCommand& command,
         absl::AnyInvocable<Instant()> now, RedisKeys::Done done) {
  const std::string value = ValueOf(command);
  const std::string life = LifeOf(command);
  const bool may_take = command.on_lost == DedupePolicy::Lost::kRun;
  std::vector<std::string> args = {value, life, may_take ? "1" : "0",
                                   command.digest.has_value() ? TextOf(*command.digest) : ""};
  auto asked = std::make_unique<Asked>(
      Asked{client, name, std::move(args), std::move(now), std::move(done)});
  const std::string words[] = {"SET", name, value, "PX", life, "NX"};
  client.Send(name, words,
              [asked = std::move(asked)](const absl::StatusOr<RedisReply>& reply) mutable {
                Asked& held = *asked;
                held.OnClaimed(reply, std::move(asked));
              });
}

}  // namespace

void RedisKeys::Send(RedisClient& client, std::string_view prefix, const KeyCommand& command,
                     absl::AnyInvocable<Instant()> now, Done done) {
  using Kind = KeyCommand::Kind;
  const std::string name = NameOf(prefix, command);
  if (command.kind == Kind::kAsk)
    return Ask(client, name, command, std::move(now), std::move(done));
  std::vector<std::string> args = {command.token,
                                   command.kind == Kind::kRelease ? "" : ValueOf(command),
                                   LifeOf(command), command.kind == Kind::kKeep ? "1" : "0"};
  client.Run(PutScript(), name, std::move(args),
             [done = std::move(done)](const absl::StatusOr<RedisReply>& reply) mutable {
               if (!reply.ok()) return done(reply.status());
               if (reply->kind != RedisReply::Kind::kInteger) {
                 return done(absl::InternalError(reply->text));
               }
               done(KeyReply{.done = reply->integer == 1});
             });
}

}  // namespace levee
