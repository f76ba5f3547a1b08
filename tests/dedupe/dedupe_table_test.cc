// SPDX-License-Identifier: Apache-2.0
// The idempotency store in memory.
#include "dedupe/dedupe_table.h"

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "dedupe/answer_of.h"
#include "dedupe/answer_recorder.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using Kind = DedupeAnswer::Kind;
using StepKind = DedupeTable::Step::Kind;

Sha256 DigestOf(std::string_view text) {
  RequestDigest digest("/shop.Pay/Charge");
  digest.Add(Chunk::Copy({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  return digest.End();
}

// One call, and what its key has brought it.
class Caller final : private DedupeClient {
 public:
  Caller(DedupeTable& table, const std::string& key, std::string request = "pay 5", int worker = 0)
      : table_(table), place_(*this, worker, table.KeyOf(key)), request_(std::move(request)) {}

  StepKind Ask(Instant now, bool with_request = true) {
    const DedupeTable::Step step =
        table_.Ask(place_, with_request ? std::optional(DigestOf(request_)) : std::nullopt, now);
    has_key_ = step.kind == StepKind::kFirst;
    waits_ = step.kind == StepKind::kWaits;
    look_at_ = step.look_at;
    if (step.kind == StepKind::kAnswered) answer_ = step.answer;
    return step.kind;
  }
  void Complete() { table_.SetDigest(place_, DigestOf(request_)); }
  void End(DedupeEnding ending, Instant now, StoredAnswerPtr answer = nullptr) {
    has_key_ = false;
    table_.End(place_, ending, std::move(answer), now);
  }
  void Keep(std::string_view body, Instant now) { End(DedupeEnding::kKept, now, AnswerOf(body)); }
  void Leave(Instant now) {
    waits_ = false;
    table_.Withdraw(place_, now);
  }

  bool has_key() const { return has_key_; }
  bool waits() const { return waits_; }
  bool asks_again() const { return asks_again_; }
  Instant look_at() const { return look_at_; }
  const std::optional<DedupeAnswer>& answer() const { return answer_; }
  std::string replayed() const {
    return std::string(
        answer_.has_value() && answer_->kind == Kind::kReplay ? answer_->stored->body() : "");
  }

 private:
  void OnKey(Instant) override {
    waits_ = false;
    has_key_ = true;
  }
  void OnKeyUnknown(Instant now) override {
    asks_again_ = true;
    Ask(now);
  }
  void OnKeyAnswer(const DedupeAnswer& answer, Instant) override {
    waits_ = false;
    answer_ = answer;
  }

  DedupeTable& table_;
  DedupePlace place_;
  const std::string request_;
  bool has_key_ = false;
  bool waits_ = false;
  bool asks_again_ = false;
  Instant look_at_;
  std::optional<DedupeAnswer> answer_;
};

class Dedupe : public testing::Test {
 protected:
  void Use(const DedupePolicy& policy) {
    policy_ = policy;
    table_ = std::make_unique<DedupeTable>(
        policy, kWorkers, [this](int worker) { woken_[static_cast<size_t>(worker)] = true; });
  }
  void SetUp() override { Use(DedupePolicy()); }

  void Pass(absl::Duration time) { now_ = now_ + time; }

  // The workers look, as those do that were woken.
  void Look() {
    for (size_t worker = 0; worker < woken_.size(); ++worker) {
      if (!std::exchange(woken_[worker], false)) continue;
      table_->Answer(static_cast<int>(worker), now_);
    }
  }
  Caller& Add(const std::string& key, const std::string& request = "pay 5", int worker = 0) {
    return callers_.emplace_back(*table_, key, request, worker);
  }

  static constexpr int kWorkers = 2;
  DedupePolicy policy_;
  std::unique_ptr<DedupeTable> table_;
  std::deque<Caller> callers_;
  std::array<bool, kWorkers> woken_{};
  Instant now_ = Instant::FromNanos(1'000'000'000);
};

TEST_F(Dedupe, TellsHowManyKeysACallHas) {
  const auto in_flight = [this] { return table_->GetView().in_flight; };
  Caller &kept = Add("a"), &released = Add("b"), &lost = Add("c"), &handed = Add("d");
  for (Caller* caller : {&kept, &released, &lost, &handed}) caller->Ask(now_);
  EXPECT_EQ(in_flight(), 4u);
  kept.Keep("receipt", now_);
  EXPECT_EQ(in_flight(), 3u);
  released.End(DedupeEnding::kReleased, now_);
  EXPECT_EQ(in_flight(), 2u);
  lost.End(DedupeEnding::kUnknown, now_);
  EXPECT_EQ(in_flight(), 1u);
  Caller& waits = Add("d");
  waits.Ask(now_);
  handed.End(DedupeEnding::kReleased, now_);
  EXPECT_EQ(in_flight(), 1u) << "the one that waited has it";
  waits.Leave(now_);
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(Dedupe, ACallThatComesLaterGetsTheAnswerOfTheFirst) {
  Caller& first = Add("k");
  EXPECT_EQ(first.Ask(now_), StepKind::kFirst);
  first.Keep("receipt 1", now_);
  Pass(absl::Hours(23));
  Caller& later = Add("k");
  EXPECT_EQ(later.Ask(now_, /*with_request=*/false), StepKind::kNeedsRequest);
  EXPECT_EQ(later.Ask(now_), StepKind::kAnswered);
  EXPECT_EQ(later.replayed(), "receipt 1");
  EXPECT_EQ(Add("other").Ask(now_), StepKind::kFirst);
  callers_.back().End(DedupeEnding::kReleased, now_);
}

TEST_F(Dedupe, AKeyIsFreeAfterItsTime) {
  Add("k").Ask(now_);
  callers_.back().Keep("receipt", now_);
  Pass(policy_.ttl);
  Caller& later = Add("k");
  EXPECT_EQ(later.Ask(now_), StepKind::kFirst);
  later.Keep("another", now_);
  Pass(policy_.ttl);
  Add("k2").Ask(now_);
  EXPECT_EQ(table_->GetView().keys, 1u) << "what has expired is dropped when others come";
  callers_.back().End(DedupeEnding::kReleased, now_);
}

TEST_F(Dedupe, CallsThatWaitOnAnyWorkerGetTheAnswerOfTheOneThatRuns) {
  Caller& first = Add("k", "pay 5", /*worker=*/0);
  first.Ask(now_);
  std::vector<Caller*> waiting;
  for (int i = 0; i < 6; ++i) {
    waiting.push_back(&Add("k", "pay 5", i % kWorkers));
    EXPECT_EQ(waiting.back()->Ask(now_), StepKind::kWaits);
    EXPECT_TRUE(waiting.back()->look_at().is_infinite());
  }
  first.Keep("receipt", now_);
  EXPECT_TRUE(woken_[0] && woken_[1]);
  Look();
  for (const Caller* caller : waiting) EXPECT_EQ(caller->replayed(), "receipt");
}

TEST_F(Dedupe, AWorkerIsWokenOnceForAllAnswersThatWait) {
  int wakes = 0;
  table_ = std::make_unique<DedupeTable>(policy_, 1, [&](int) { ++wakes; });
  for (int turn = 1; turn <= 2; ++turn) {
    Caller &one = Add(absl::StrCat("a", turn)), &other = Add(absl::StrCat("b", turn));
    one.Ask(now_);
    other.Ask(now_);
    Caller& waits = Add(absl::StrCat("a", turn));
    Caller& also_waits = Add(absl::StrCat("b", turn));
    waits.Ask(now_);
    also_waits.Ask(now_);
    one.Keep("first", now_);
    other.Keep("second", now_);
    EXPECT_EQ(wakes, turn);
    table_->Answer(0, now_);
    EXPECT_EQ(waits.replayed(), "first");
    EXPECT_EQ(also_waits.replayed(), "second");
  }
}

TEST_F(Dedupe, AnotherRequestWithTheKeyIsRefusedWheneverThatIsKnown) {
  Caller& first = Add("k", "pay 5");
  first.Ask(now_, /*with_request=*/false);
  Caller& other = Add("k", "pay 500");
  Caller& same = Add("k", "pay 5");
  EXPECT_EQ(other.Ask(now_), StepKind::kWaits);
  EXPECT_EQ(same.Ask(now_), StepKind::kWaits);
  first.Complete();
  Look();
  ASSERT_TRUE(other.answer().has_value());
  EXPECT_EQ(other.answer()->kind, Kind::kMismatch);
  EXPECT_TRUE(same.waits());
  first.Keep("receipt", now_);
  Look();
  EXPECT_EQ(same.replayed(), "receipt");
  Caller& late = Add("k", "pay 500");
  late.Ask(now_);
  EXPECT_EQ(late.answer()->kind, Kind::kMismatch);
}

TEST_F(Dedupe, AReleasedKeyGoesToTheCallThatWaitsLongest) {
  Caller& first = Add("k");
  first.Ask(now_);
  Caller& second = Add("k", "pay 5", /*worker=*/1);
  Caller& third = Add("k");
  second.Ask(now_);
  third.Ask(now_);
  first.End(DedupeEnding::kReleased, now_);
  Look();
  EXPECT_TRUE(second.has_key());
  EXPECT_TRUE(third.waits());
  second.Keep("receipt", now_);
  Look();
  EXPECT_EQ(third.replayed(), "receipt");
}

TEST_F(Dedupe, ACallThatLeavesAsItGetsTheKeyPassesItOn) {
  Caller& first = Add("k");
  first.Ask(now_);
  Caller& second = Add("k");
  Caller& third = Add("k");
  second.Ask(now_);
  third.Ask(now_);
  first.End(DedupeEnding::kReleased, now_);
  second.Leave(now_);
  Look();
  EXPECT_TRUE(third.has_key());
  third.End(DedupeEnding::kReleased, now_);
  EXPECT_EQ(table_->GetView().keys, 0u);
  EXPECT_EQ(table_->GetView().bytes, 0u);
}

TEST_F(Dedupe, ALostCallIsToldAsSuchOnceItsClaimHasPassed) {
  Caller& first = Add("k");
  first.Ask(now_);
  Caller& waiting = Add("k");
  waiting.Ask(now_);
  Pass(absl::Seconds(10));
  first.End(DedupeEnding::kUnknown, now_);
  Look();
  EXPECT_TRUE(waiting.asks_again() && waiting.waits());
  Pass(absl::Seconds(50));
  EXPECT_EQ(waiting.look_at(), now_);
  EXPECT_EQ(waiting.Ask(now_), StepKind::kAnswered);
  EXPECT_EQ(waiting.answer()->kind, Kind::kLost);
  Pass(absl::Hours(23));
  Caller& late = Add("k");
  late.Ask(now_);
  EXPECT_EQ(late.answer()->kind, Kind::kLost);
}

TEST_F(Dedupe, AfterALostCallOneOtherRunsIfThePolicySaysSo) {
  policy_.on_lost = DedupePolicy::Lost::kRun;
  Use(policy_);
  Add("k").Ask(now_);
  callers_.back().End(DedupeEnding::kUnknown, now_);
  Caller& early = Add("k");
  EXPECT_EQ(early.Ask(now_), StepKind::kWaits);
  Pass(policy_.claim);
  EXPECT_EQ(early.Ask(now_), StepKind::kFirst);
  Caller& next = Add("k");
  EXPECT_EQ(next.Ask(now_), StepKind::kWaits);
  early.Keep("receipt", now_);
  Look();
  EXPECT_EQ(next.replayed(), "receipt");
}

TEST_F(Dedupe, NoneWaitsIfThePolicySaysSo) {
  policy_.in_flight = DedupePolicy::InFlight::kRefuse;
  policy_.duplicate = DedupePolicy::Duplicate::kRefuse;
  Use(policy_);
  Caller& first = Add("k");
  first.Ask(now_);
  Caller& second = Add("k");
  second.Ask(now_);
  EXPECT_EQ(second.answer()->kind, Kind::kInFlight);
  first.Keep("receipt", now_);
  Caller& third = Add("k");
  third.Ask(now_);
  EXPECT_EQ(third.answer()->kind, Kind::kEnded);
  EXPECT_EQ(third.answer()->stored->code(), StatusCode::kOk);
}

TEST_F(Dedupe, MemoryIsBoundedAndOutcomesNotAskedForLongestGoFirst) {
  policy_.max_bytes = 64 << 10;
  Use(policy_);
  Caller& runs = Add("runs");
  runs.Ask(now_);
  for (int i = 0; i < 200; ++i) {
    Caller& caller = Add(absl::StrCat("k", i));
    ASSERT_EQ(caller.Ask(now_), StepKind::kFirst);
    caller.Keep(std::string(1000, 'x'), now_);
    Add("k0").Ask(now_);
    EXPECT_FALSE(callers_.back().replayed().empty()) << "it was asked for a moment ago";
    ASSERT_LE(table_->GetView().bytes, 64u << 10);
  }
  EXPECT_EQ(Add("k1").Ask(now_), StepKind::kFirst);
  callers_.back().End(DedupeEnding::kReleased, now_);
  EXPECT_EQ(Add("runs").Ask(now_), StepKind::kWaits) << "a call that runs keeps its key";
  callers_.back().Leave(now_);
  runs.End(DedupeEnding::kReleased, now_);
}

TEST_F(Dedupe, KeysThatRunTakeAQuarterOfTheStoreAtMost) {
  policy_.max_bytes = 256 << 10;
  Use(policy_);
  size_t keys = 0;
  while (Add(absl::StrCat("k", keys)).Ask(now_) == StepKind::kFirst) ++keys;
  EXPECT_GT(keys, 100u);
  EXPECT_LE(table_->GetView().bytes, 72u << 10) << "with a table of keys";
  EXPECT_EQ(table_->GetView().keys, keys);
  callers_.pop_back();
  callers_.back().Keep("receipt", now_);
  EXPECT_EQ(Add("another").Ask(now_), StepKind::kFirst);
  for (Caller& caller : callers_) {
    if (caller.has_key()) caller.End(DedupeEnding::kReleased, now_);
  }
  EXPECT_EQ(table_->GetView().keys, 1u) << "the outcome";
}

TEST_F(Dedupe, TheRequestsOfTwoMethodsDiffer) {
  RequestDigest one("/a"), other("/b");
  EXPECT_NE(one.End(), other.End());
}

Chunk BytesOf(std::string_view text) {
  return Chunk::Copy({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// A message of `size` bytes with its prefix.
std::string Message(size_t size) {
  return std::string({0, 0, 0, static_cast<char>(size >> 8), static_cast<char>(size)}) +
         std::string(size, 'm');
}

TEST(AnswerRecorder, KeepsOneMessageWholeAndOfMoreTheStatus) {
  Metadata head, trailers;
  head.Add("content-type", "application/grpc");
  trailers.Add("grpc-status", "0");
  const auto record = [&](const std::string& body) {
    AnswerRecorder recorder(/*max_bytes=*/1024);
    recorder.OnHead(head);
    for (const char byte : body) recorder.OnData(BytesOf({&byte, 1}));
    return recorder.End(StatusCode::kOk, trailers);
  };
  const StoredAnswerPtr whole = record(Message(300));
  EXPECT_TRUE(whole->whole());
  EXPECT_EQ(whole->body(), Message(300));
  Metadata fields;
  whole->AppendHead(fields);
  whole->AppendTrailers(fields);
  EXPECT_TRUE(fields.size() == 2 && fields.BeginsWith(head));
  EXPECT_EQ(fields.Get("grpc-status"), "0");
  for (const std::string& body : {Message(1024), Message(3) + Message(3)}) {
    const StoredAnswerPtr status = record(body);
    EXPECT_FALSE(status->whole());
    EXPECT_EQ(status->code(), StatusCode::kOk);
    EXPECT_LT(status->bytes(), 128u);
  }
}

// Calls come, leave, end in each way, and ask again, in any order.
TEST_F(Dedupe, I2_NoKeyRunsTwiceWhateverCallsDo) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    policy_.max_bytes = 1 << 20;
    Use(policy_);
    callers_.clear();
    struct Key {
      int running = 0;
      std::string kept;  // the answer, if the key has one
      bool lost = false;
    };
    std::vector<Key> keys(5);
    std::deque<std::pair<size_t, Caller>> calls;
    const auto below = [&](size_t n) { return static_cast<size_t>(random.Below(n)); };
    for (int step = 0; step < 400; ++step) {
      Pass(absl::Milliseconds(static_cast<int64_t>(below(2000))));
      if (below(2) == 0) {
        const size_t key = below(keys.size());
        auto& call = calls.emplace_back(
            std::piecewise_construct, std::forward_as_tuple(key),
            std::forward_as_tuple(*table_, absl::StrCat(key), "pay", static_cast<int>(below(2))));
        call.second.Ask(now_);
      } else if (!calls.empty()) {
        auto& [key, caller] = calls[below(calls.size())];
        if (caller.has_key()) {
          const size_t how = below(4);
          if (how == 0) {
            caller.End(DedupeEnding::kReleased, now_);
          } else if (how == 1) {
            caller.End(DedupeEnding::kUnknown, now_);
            keys[key].lost = true;
          } else {
            ASSERT_EQ(keys[key].kept, "") << "seed " << seed;
            ASSERT_FALSE(keys[key].lost) << "seed " << seed;
            keys[key].kept = absl::StrCat("receipt ", step);
            caller.Keep(keys[key].kept, now_);
          }
        } else if (caller.waits()) {
          below(3) == 0 ? caller.Leave(now_) : static_cast<void>(caller.Ask(now_));
        }
      }
      if (below(3) != 0) Look();
      std::vector<int> running(keys.size());
      for (const auto& [key, caller] : calls) {
        if (caller.has_key()) ++running[key];
        if (caller.answer().has_value() && caller.answer()->kind == Kind::kReplay) {
          ASSERT_EQ(caller.replayed(), keys[key].kept) << "seed " << seed;
        }
      }
      for (const int count : running) ASSERT_LE(count, 1) << "seed " << seed;
    }
    Look();
    for (auto& [key, caller] : calls) {
      if (caller.has_key()) caller.End(DedupeEnding::kReleased, now_);
      Look();
    }
    for (auto& [key, caller] : calls) {
      if (caller.waits()) caller.Leave(now_);
      if (caller.has_key()) caller.End(DedupeEnding::kReleased, now_);
    }
  }
}

}  // namespace
}  // namespace levee
