// SPDX-License-Identifier: Apache-2.0
// The scripts of idempotency keys in a real redis-server, and the model that the simulations use.
#include "store/key_script.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "dedupe/simulated_keys.h"
#include "gtest/gtest.h"
#include "store/client_run.h"
#include "store/redis_process.h"

namespace levee {
namespace {

constexpr absl::Duration kClaim = absl::Hours(10);
constexpr absl::Duration kTtl = absl::Hours(100);

Sha256 Digest(uint8_t of) {
  Sha256 digest{};
  digest.fill(of);
  return digest;
}

StoredAnswerPtr AnswerOf(const std::string& body) {
  Metadata head, trailers;
  head.Add("served-by", "app");
  head.Add("secret", std::string_view("\0\xff", 2), /*never_index=*/true);
  trailers.Add("grpc-status", "0");
  AnswerWriter answer;
  answer.AddHead(head);
  answer.AddBody(body);
  return answer.End(StatusCode::kOk, trailers);
}

// What can be told of a reply, without the moment at which it came.
std::string Text(const KeyReply& reply, Instant now) {
  if (!reply.claim.has_value()) return reply.done ? "done" : "no";
  const KeyClaim& claim = *reply.claim;
  const std::string answer(claim.answer == nullptr ? "open" : claim.answer->body());
  const bool lost = claim.answer == nullptr && now >= claim.until;
  const int digest = claim.digest.has_value() ? (*claim.digest)[0] : 0;
  return absl::StrCat(claim.token, " ", answer, lost ? " lost" : "", " ", digest);
}

// Asks both for the same. Their time passes as the test says; what really passes does not matter.
class KeyScriptTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
    redis_.emplace();
    run_.emplace(RedisTarget{
        .servers = {{"127.0.0.1", redis_->port()}}, .timeout = kLong, .patience = kLong});
    run_->UntilConnected();
  }

  KeyCommand Command(KeyCommand::Kind kind, char token, int digest = 0, bool run_lost = false) {
    KeyCommand command;
    command.kind = kind;
    command.key = {0x6b};
    command.token = std::string(KeyCommand::kTokenSize, token);
    if (digest != 0) command.digest = Digest(static_cast<uint8_t>(digest));
    command.claim = kClaim;
    command.ttl = kTtl;
    command.on_lost = run_lost ? DedupePolicy::Lost::kRun : DedupePolicy::Lost::kRefuse;
    if (kind == KeyCommand::Kind::kKeep) command.answer = AnswerOf(std::string("by ") + token);
    return command;
  }

  std::string Both(const KeyCommand& command) {
    std::optional<absl::StatusOr<KeyReply>> reply;
    RedisKeys::Send(
        *run_->client, "t:", command, [this] { return now_; },
        [&](const absl::StatusOr<KeyReply>& told) { reply = told; });
    run_->Until([&] { return reply.has_value(); });
    EXPECT_TRUE(reply->ok()) << reply->status();
    if (!reply->ok()) return "failed";
    const std::string script = Text(**reply, now_);
    EXPECT_EQ(script, Text(model_.Run(command, now_), now_));
    return script.substr(0, 1) == "d" || script == "no" ? script : script.substr(15);
  }

  // In Redis the life of the key gets shorter by so much.
  void Pass(absl::Duration time) {
    now_ = now_ + time;
    const auto keys = run_->Ask({"KEYS", "t:key:*"});
    for (const RedisReply& key : keys->list) {
      const auto left = run_->Ask({"PTTL", key.text});
      const int64_t life = left->integer - absl::ToInt64Milliseconds(time);
      EXPECT_TRUE(run_->Ask({"PEXPIRE", key.text, absl::StrCat(life)}).ok());
    }
  }

  using Kind = KeyCommand::Kind;
  std::optional<RedisProcess> redis_;
  std::optional<ClientRun> run_;
  SimulatedKeys model_;
  Instant now_ = Instant() + absl::Hours(1000);
};

TEST_F(KeyScriptTest, AKeyIsCalledByItsDigest) {
  EXPECT_EQ(Both(Command(KeyCommand::Kind::kAsk, 'a')), "done");
  EXPECT_EQ(redis_->Command({"KEYS", "*"}), "t:key:6b" + std::string(62, '0') + "\n");
}

TEST_F(KeyScriptTest, AnAnswerIsKeptByTheClaimThatStandsAndReadByAll) {
  EXPECT_EQ(Both(Command(Kind::kAsk, 'a')), "done");
  EXPECT_EQ(Both(Command(Kind::kAsk, 'b', 1)), "a open 0");
  EXPECT_EQ(Both(Command(Kind::kKeep, 'b', 1)), "no");
  EXPECT_EQ(Both(Command(Kind::kKeep, 'a', 1)), "done");
  EXPECT_EQ(Both(Command(Kind::kAsk, 'b', 2)), "a by a 1");
  EXPECT_EQ(Both(Command(Kind::kRelease, 'a')), "no") << "an answer stays";
  Pass(kTtl);
  EXPECT_EQ(Both(Command(Kind::kAsk, 'b', 2)), "done");
}

TEST_F(KeyScriptTest, AClaimThatIsNotRenewedIsLost) {
  EXPECT_EQ(Both(Command(Kind::kAsk, 'a', 1)), "done");
  Pass(kClaim * 9 / 10);
  EXPECT_EQ(Both(Command(Kind::kRenew, 'a', 1)), "done");
  Pass(kClaim * 9 / 10);
  EXPECT_EQ(Both(Command(Kind::kAsk, 'b', 1, /*run_lost=*/true)), "a open 1");
  Pass(kClaim * 2 / 10);
  EXPECT_EQ(Both(Command(Kind::kAsk, 'b', 1)), "a open lost 1");
  EXPECT_EQ(Both(Command(Kind::kAsk, 'b', 2, /*run_lost=*/true)), "a open lost 1");
  EXPECT_EQ(Both(Command(Kind::kAsk, 'b', 1, /*run_lost=*/true)), "done");
  EXPECT_EQ(Both(Command(Kind::kKeep, 'a', 1)), "no") << "its claim was taken over";
}

TEST_F(KeyScriptTest, AReleasedKeyIsFree) {
  EXPECT_EQ(Both(Command(Kind::kAsk, 'a')), "done");
  EXPECT_EQ(Both(Command(Kind::kRelease, 'b')), "no");
  EXPECT_EQ(Both(Command(Kind::kRelease, 'a')), "done");
  EXPECT_EQ(Both(Command(Kind::kRenew, 'a')), "no");
  EXPECT_EQ(Both(Command(Kind::kAsk, 'b')), "done");
}

TEST_F(KeyScriptTest, ScriptsAndModelAgreeWhateverIsAsked) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    EXPECT_TRUE(run_->Ask({"FLUSHALL"}).ok());
    model_.Forget();
    for (int step = 0; step < 100 && !HasFailure(); ++step) {
      const auto kind = static_cast<Kind>(random.Below(4));
      const auto token = static_cast<char>('a' + random.Below(3));
      Both(Command(kind, token, static_cast<int>(random.Below(3)), random.Below(2) == 0));
      if (random.Below(4) == 0) Pass(kClaim * (1 + random.Below(20)) / 10);
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST_F(KeyScriptTest, WhatIsNoKeyOfThisFormIsAnError) {
  EXPECT_EQ(Both(Command(Kind::kAsk, 'a')), "done");
  const auto keys = run_->Ask({"KEYS", "t:key:*"});
  EXPECT_TRUE(run_->Ask({"SET", keys->list.at(0).text, "e0short"}).ok());
  std::optional<absl::StatusOr<KeyReply>> reply;
  const KeyCommand command = Command(Kind::kAsk, 'b');
  RedisKeys::Send(
      *run_->client, "t:", command, [this] { return now_; },
      [&](const absl::StatusOr<KeyReply>& told) { reply = told; });
  run_->Until([&] { return reply.has_value(); });
  EXPECT_EQ(reply->status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace levee
