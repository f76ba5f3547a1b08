// SPDX-License-Identifier: Apache-2.0
#include "store/key_script.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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
  const absl::string_view key(reinterpret_cast<const char*>(command.key.data()),
                              command.key.size());
  return absl::StrCat(Abseil(prefix), "key:", absl::BytesToHexString(key));
}

// A view into the command; empty if it has no digest.
std::string_view DigestOf(const KeyCommand& command) {
  if (!command.digest.has_value()) return {};
  return {reinterpret_cast<const char*>(command.digest->data()), command.digest->size()};
}

std::string ValueOf(const KeyCommand& command) {
  const absl::AlphaNum ttl(absl::ToInt64Milliseconds(command.ttl));
  const std::string_view answer =
      command.answer == nullptr ? std::string_view() : command.answer->text();
  std::string value;
  value.reserve(kHead + std::tuple_size_v<Sha256> + answer.size());
  value += command.answer == nullptr ? 'o' : 'e';
  value += command.digest.has_value() ? '1' : '0';
  value += command.token;
  value.append(kTtl - std::min(ttl.size(), kTtl), '0');
  value.append(ttl.data(), ttl.size());
  value += DigestOf(command);
  value += answer;
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

}  // namespace

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

namespace {

// A question, until it has its answer.
struct Asked {
  RedisClient& client;
  const KeyCommand& command;
  std::string name;
  absl::AnyInvocable<Instant()> now;
  RedisKeys::Done done;

  void OnClaimed(const absl::StatusOr<RedisReply>& reply, std::unique_ptr<Asked> self) {
    if (!reply.ok()) return done(reply.status());
    if (reply->kind == RedisReply::Kind::kError) return done(absl::InternalError(reply->text));
    if (reply->kind == RedisReply::Kind::kStatus) return done(KeyReply{.done = true});
    const std::string value = ValueOf(command), life = LifeOf(command);
    const bool may_take = command.on_lost == DedupePolicy::Lost::kRun;
    const std::string_view args[] = {value, life, may_take ? "1" : "0", DigestOf(command)};
    client.Run(AskScript(), name, args,
               [self = std::move(self)](const absl::StatusOr<RedisReply>& seen) {
                 self->done(seen.ok() ? ReadAskReply(*seen, self->now())
                                      : absl::StatusOr<KeyReply>(seen.status()));
               });
  }
};

void Ask(RedisClient& client, std::string name, const KeyCommand& command,
         absl::AnyInvocable<Instant()> now, RedisKeys::Done done) {
  const std::string value = ValueOf(command), life = LifeOf(command);
  auto asked = std::make_unique<Asked>(
      Asked{client, command, std::move(name), std::move(now), std::move(done)});
  const std::string_view key = asked->name;
  const std::string_view words[] = {"SET", key, value, "PX", life, "NX"};
  client.Send(key, words,
              [asked = std::move(asked)](const absl::StatusOr<RedisReply>& reply) mutable {
                Asked& held = *asked;
                held.OnClaimed(reply, std::move(asked));
              });
}

}  // namespace

void RedisKeys::Send(RedisClient& client, std::string_view prefix, const KeyCommand& command,
                     absl::AnyInvocable<Instant()> now, Done done) {
  using Kind = KeyCommand::Kind;
  std::string name = NameOf(prefix, command);
  if (command.kind == Kind::kAsk) {
    return Ask(client, std::move(name), command, std::move(now), std::move(done));
  }
  const std::string value = command.kind == Kind::kRelease ? "" : ValueOf(command);
  const std::string life = LifeOf(command);
  const std::string_view args[] = {command.token, value, life,
                                   command.kind == Kind::kKeep ? "1" : "0"};
  client.Run(PutScript(), name, args,
             [done = std::move(done)](const absl::StatusOr<RedisReply>& reply) mutable {
               if (!reply.ok()) return done(reply.status());
               if (reply->kind != RedisReply::Kind::kInteger) {
                 return done(absl::InternalError(reply->text));
               }
               done(KeyReply{.done = reply->integer == 1});
             });
}

}  // namespace levee
