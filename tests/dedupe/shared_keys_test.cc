// SPDX-License-Identifier: Apache-2.0
// Tables of several sidecars on one store, on virtual time: replies come late or never, the store
// goes away and comes back, and sidecars die.
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "dedupe/answer_of.h"
#include "dedupe/dedupe_table.h"
#include "dedupe/key_keeper.h"
#include "dedupe/simulated_keys.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using Kind = DedupeAnswer::Kind;
using StepKind = DedupeTable::Step::Kind;

constexpr absl::Duration Ms(int64_t n) { return absl::Milliseconds(n); }

Sha256 DigestFilledWith(char request) {
  Sha256 digest{};
  digest.fill(static_cast<uint8_t>(request));
  return digest;
}

// What happens when, in the order of time.
class Events {
 public:
  Instant now() const { return now_; }
  void After(absl::Duration time, std::function<void()> what) {
    events_.emplace(now_ + time, std::move(what));
  }
  void RunFor(absl::Duration time) {
    const Instant end = now_ + time;
    while (!events_.empty() && events_.begin()->first <= end) {
      auto event = events_.extract(events_.begin());
      now_ = event.key();
      event.mapped()();
    }
    now_ = end;
  }

 private:
  Instant now_ = Instant() + absl::Hours(1);
  std::multimap<Instant, std::function<void()>> events_;
};

// The store, and the network before it.
struct Store {
  SimulatedKeys keys;
  bool away = false;
  double loses = 0;  // of commands, and as many replies
  absl::Duration slowest = Ms(1);
  int commands = 0;
};

// One sidecar: its table, and what speaks to the store.
class Pod final : public KeyStore, private KeyWire {
 public:
  Pod(Events& events, Store& store, Random& random, const DedupePolicy& policy)
      : events_(events), store_(store), random_(random) {
    table = std::make_shared<DedupeTable>(
        policy, 1, [this](int) { Later([this] { table->Answer(0, events_.now()); }); },
        DedupeTable::Shared{.store = this, .name = "app/", .seed = random.Next()});
    Tick();
  }

  void Post(KeyCommand command) override {
    Later([this, command] { keeper_.Take(command, events_.now()); });
  }

  void Die() { *alive_ = false; }
  bool alive() const { return *alive_; }

  std::shared_ptr<DedupeTable> table;

 private:
  void Later(std::function<void()> what, absl::Duration time = absl::ZeroDuration()) {
    events_.After(time, [alive = alive_, what = std::move(what)] {
      if (*alive) what();
    });
  }
  void Tick() {
    keeper_.OnTimer(events_.now());
    Later([this] { Tick(); }, Ms(5));
  }

  void Send(const KeyCommand& command, Done done) override {
    ++store_.commands;
    if (store_.away) return done(absl::FailedPreconditionError("away"), events_.now());
    const auto held = std::make_shared<Done>(std::move(done));
    const bool comes = random_.Uniform() >= store_.loses;
    const bool returns = random_.Uniform() >= store_.loses;
    const absl::Duration way = store_.slowest * random_.Uniform();
    // On one connection commands stay in their order.
    arrives_ = std::max(arrives_, events_.now() + way);
    if (comes) {
      // What has left arrives, even if its sidecar dies.
      events_.After(arrives_ - events_.now(), [this, command, held, returns, alive = alive_] {
        const KeyReply reply = store_.keys.Run(command, events_.now());
        if (*alive && returns) Later([=, this] { (*held)(reply, events_.now()); }, Ms(1));
      });
    }
    if (comes && returns) return;
    Later([=, this] { (*held)(absl::DeadlineExceededError("late"), events_.now()); }, Ms(50));
  }

  Events& events_;
  Store& store_;
  Random& random_;
  KeyKeeper keeper_{*this};
  Instant arrives_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class PodCaller final : private DedupeClient {
 public:
  // `complete`: whether its request is, as it asks for the first time.
  PodCaller(Events& events, Pod& its_pod, const std::string& key, char request = 'p',
            bool complete = true)
      : pod(its_pod),
        events_(events),
        place_(*this, 0, its_pod.table->KeyOf(key)),
        request_(request) {
    Ask(complete);
  }

  void End(DedupeEnding ending, StoredAnswerPtr stored = nullptr) {
    has_key = false;
    pod.table->End(place_, ending, std::move(stored), events_.now());
  }
  void Keep(const std::string& body) { End(DedupeEnding::kKept, AnswerOf(body)); }
  void Leave() {
    waits = false;
    pod.table->Withdraw(place_, events_.now());
  }
  std::string replayed() const {
    return std::string(answer.has_value() && answer->kind == Kind::kReplay ? answer->stored->body()
                                                                           : "");
  }
  bool refused_with(Kind kind) const { return answer.has_value() && answer->kind == kind; }

  Pod& pod;
  bool has_key = false;
  bool ran = false;
  bool waits = false;
  std::optional<DedupeAnswer> answer;

 private:
  void Ask(bool complete = true) {
    const auto step = pod.table->Ask(
        place_, complete ? std::optional(DigestFilledWith(request_)) : std::nullopt, events_.now());
    waits = step.kind == StepKind::kWaits;
    if (step.kind == StepKind::kFirst) has_key = ran = true;
    if (step.kind == StepKind::kAnswered) answer = step.answer;
  }
  void OnKey(Instant) override {
    waits = false;
    has_key = ran = true;
  }
  void OnKeyUnknown(Instant) override { Ask(); }
  void OnKeyAnswer(const DedupeAnswer& told, Instant) override {
    waits = false;
    answer = told;
  }

  Events& events_;
  DedupePlace place_;
  const char request_;
};

class SharedKeysTest : public testing::Test {
 protected:
  Pod& NewPod() { return pods_.emplace_back(events_, store_, random_, policy_); }
  PodCaller& Call(Pod& pod, const std::string& key = "k", char request = 'p',
                  bool complete = true) {
    return callers_.emplace_back(events_, pod, key, request, complete);
  }
  ~SharedKeysTest() override {
    for (PodCaller& caller : callers_) {
      if (caller.waits) caller.Leave();
      if (caller.has_key) caller.End(DedupeEnding::kUnknown);
    }
  }

  Random random_{1};
  Events events_;
  Store store_;
  DedupePolicy policy_{.store = "shared"};
  std::deque<Pod> pods_;
  std::deque<PodCaller> callers_;
};

TEST_F(SharedKeysTest, AKeyIsTheDigestOfWhatItBelongsToAndItsText) {
  Sha256Sum sum;
  sum.Add("app/k");
  EXPECT_EQ(NewPod().table->KeyOf("k"), sum.End()) << "other versions know it by that, too";
}

TEST_F(SharedKeysTest, ACallGetsTheAnswerOfOneInAnotherSidecarWheneverThatEnds) {
  Pod &a = NewPod(), &b = NewPod();
  PodCaller& first = Call(a);
  events_.RunFor(Ms(10));
  ASSERT_TRUE(first.has_key);
  PodCaller& second = Call(b);
  PodCaller& third = Call(b);
  PodCaller& other = Call(b, "k", 'q');
  events_.RunFor(absl::Seconds(20));
  EXPECT_TRUE(second.waits && third.waits);
  first.Keep("receipt");
  events_.RunFor(Ms(300));
  EXPECT_EQ(second.replayed(), "receipt");
  EXPECT_EQ(third.replayed(), "receipt");
  EXPECT_TRUE(other.refused_with(Kind::kMismatch));
  PodCaller& late = Call(NewPod());
  events_.RunFor(Ms(10));
  EXPECT_EQ(late.replayed(), "receipt");
}

TEST_F(SharedKeysTest, ARequestThatIsNotCompleteYetIsNoOtherRequest) {
  Pod& pod = NewPod();
  PodCaller& first = Call(pod);
  PodCaller& second = Call(pod, "k", 'p', /*complete=*/false);
  PodCaller& other = Call(pod, "k", 'q', /*complete=*/false);
  events_.RunFor(Ms(10));
  EXPECT_TRUE(first.has_key);
  EXPECT_TRUE(second.waits);
  EXPECT_TRUE(other.refused_with(Kind::kMismatch)) << "once it is complete";
  first.Keep("receipt");
  events_.RunFor(Ms(10));
  EXPECT_EQ(second.replayed(), "receipt");
}

TEST_F(SharedKeysTest, CallsThatWaitCostTheStoreAFewLooks) {
  Pod &a = NewPod(), &b = NewPod();
  Call(a);
  events_.RunFor(Ms(10));
  const int before = store_.commands;
  for (int i = 0; i < 1000; ++i) Call(b);
  events_.RunFor(absl::Seconds(10));
  EXPECT_LE(store_.commands - before, 52) << "at most one each 250 ms, and those of the beginning";
}

TEST_F(SharedKeysTest, AClaimStandsForAsLongAsTheCallRunsAndIsLostWithItsSidecar) {
  Pod &a = NewPod(), &b = NewPod();
  Call(a);
  events_.RunFor(absl::Minutes(10));
  PodCaller& second = Call(b);
  events_.RunFor(absl::Seconds(30));
  EXPECT_TRUE(second.waits);
  a.Die();
  events_.RunFor(absl::Seconds(61));
  EXPECT_TRUE(second.refused_with(Kind::kLost));
}

TEST_F(SharedKeysTest, AReleasedKeyGoesToACallOfAnotherSidecar) {
  Pod &a = NewPod(), &b = NewPod();
  PodCaller& first = Call(a);
  events_.RunFor(Ms(10));
  PodCaller& second = Call(b);
  events_.RunFor(Ms(100));
  first.End(DedupeEnding::kReleased);
  events_.RunFor(Ms(300));
  EXPECT_TRUE(second.has_key);
}

TEST_F(SharedKeysTest, AKeyThatNobodyWantsAnyMoreAsItComesIsReleased) {
  PodCaller& first = Call(NewPod());
  first.Leave();
  events_.RunFor(Ms(100));
  EXPECT_FALSE(first.has_key);
  EXPECT_EQ(store_.keys.size(), 0u);
  EXPECT_EQ(first.pod.table->GetView().in_flight, 0u);
}

TEST_F(SharedKeysTest, OnlyTheSidecarWhoseCallHasTheKeyCountsIt) {
  Pod &a = NewPod(), &b = NewPod();
  PodCaller& first = Call(a);
  events_.RunFor(Ms(10));
  Call(b);
  events_.RunFor(Ms(10));
  EXPECT_EQ(a.table->GetView().in_flight, 1u);
  EXPECT_EQ(b.table->GetView().in_flight, 0u);
  first.Keep("receipt");
  events_.RunFor(Ms(300));
  EXPECT_EQ(a.table->GetView().in_flight, 0u);
  EXPECT_EQ(b.table->GetView().in_flight, 0u);
}

TEST_F(SharedKeysTest, AnAnswerIsStoredWhenTheStoreIsBack) {
  Pod &a = NewPod(), &b = NewPod();
  PodCaller& first = Call(a);
  events_.RunFor(Ms(10));
  store_.away = true;
  first.Keep("receipt");
  PodCaller& refused = Call(b);
  events_.RunFor(absl::Seconds(20));
  EXPECT_TRUE(refused.refused_with(Kind::kStoreAway));
  EXPECT_EQ(Call(a).replayed(), "receipt") << "its own sidecar knows it";
  store_.away = false;
  events_.RunFor(Ms(200));
  PodCaller& second = Call(b);
  events_.RunFor(Ms(10));
  EXPECT_EQ(second.replayed(), "receipt");
}

// Calls of three sidecars come, leave and end in each way, replies get lost, the store goes away
// and comes back, and sidecars die. No key runs twice to its end, and none runs after a lost one.
TEST_F(SharedKeysTest, I1_NoKeyRunsTwiceWhateverHappens) {
  policy_.claim = absl::Seconds(2);
  int kept = 0, replayed = 0, lost = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    random_ = Random(seed);
    Events events;
    Store store{.loses = seed % 3 == 0 ? 0.1 : 0.0, .slowest = Ms(seed % 5 * 20 + 1)};
    std::deque<Pod> pods;
    for (int i = 0; i < 3; ++i) pods.emplace_back(events, store, random_, policy_);
    struct Key {
      std::string answer;
      bool unknown = false;
    };
    std::vector<Key> keys(4);
    std::deque<std::pair<size_t, PodCaller>> calls;
    const auto below = [&](size_t n) { return static_cast<size_t>(random_.Below(n)); };
    for (int step = 0; step < 300; ++step) {
      events.RunFor(Ms(static_cast<int64_t>(below(60))));
      if (below(60) == 0) store.away = !store.away;
      if (below(2) == 0) {
        const size_t pod = below(3), key = below(keys.size());
        if (pods[pod].alive()) {
          calls.emplace_back(std::piecewise_construct, std::forward_as_tuple(key),
                             std::forward_as_tuple(events, pods[pod], absl::StrCat(key)));
        }
      } else if (!calls.empty()) {
        auto& [key, caller] = calls[below(calls.size())];
        if (caller.has_key) {
          const size_t how = below(4);
          if (how == 0) {
            caller.End(DedupeEnding::kReleased);
          } else if (how == 1) {
            caller.End(DedupeEnding::kUnknown);
            keys[key].unknown = true;
          } else {
            ASSERT_EQ(keys[key].answer, "") << "seed " << seed;
            ASSERT_FALSE(keys[key].unknown) << "seed " << seed;
            keys[key].answer = absl::StrCat("receipt ", step);
            caller.Keep(keys[key].answer);
            ++kept;
          }
        } else if (caller.waits && below(3) == 0) {
          caller.Leave();
        }
      }
      if (below(300) == 0) pods[below(2)].Die();
      std::vector<int> running(keys.size());
      for (const auto& [key, caller] : calls) {
        running[key] += caller.has_key;
        if (caller.replayed().empty()) continue;
        ASSERT_EQ(caller.replayed(), keys[key].answer) << "seed " << seed;
      }
      for (const int count : running) ASSERT_LE(count, 1) << "seed " << seed;
    }
    for (auto& [key, caller] : calls) {
      replayed += !caller.replayed().empty();
      lost += caller.refused_with(Kind::kLost);
      if (caller.waits) caller.Leave();
    }
    for (auto& [key, caller] : calls) {
      if (caller.has_key) caller.End(DedupeEnding::kUnknown);
    }
  }
  EXPECT_GT(kept, 100);
  EXPECT_GT(replayed, 1000);
  EXPECT_GT(lost, 100);
}

}  // namespace
}  // namespace levee
