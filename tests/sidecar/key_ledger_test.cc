// SPDX-License-Identifier: Apache-2.0
// The ledger of keys: three sidecars with one redis-server, which loses connections, stops and is
// killed. Each key is used one to five times, and its work runs at most once.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "dedupe/dedupe_table.h"
#include "gtest/gtest.h"
#include "net/event_loop.h"
#include "sidecar/shared_stores.h"
#include "store/redis_process.h"

namespace levee {
namespace {

constexpr size_t kKeys = 10'000;
constexpr size_t kPods = 3;
constexpr size_t kUnderWay = 2000;  // calls of a sidecar at a time

// What is known of each key; the threads of all sidecars write it.
struct Ledger {
  std::vector<std::atomic<uint8_t>> runs{std::vector<std::atomic<uint8_t>>(kKeys)};

  // Returns when so many calls have ended.
  void Await(int calls) {
    for (int seen = ended; seen < calls; seen = ended) ended.wait(seen);
  }

  std::atomic<int> ended = 0, ran = 0, replayed = 0, other = 0, lost = 0, refused = 0;
};

std::string BodyOf(size_t key) {
  return absl::StrCat("receipt of ", key, std::string("\0\xff", 2));
}

StoredAnswerPtr AnswerOf(size_t key) {
  StoredAnswer answer;
  answer.code = StatusCode::kOk;
  answer.whole = true;
  answer.head = {{"served-by", absl::StrCat(key)}};
  answer.body = BodyOf(key);
  answer.trailers = {{"grpc-status", "0"}};
  return std::make_shared<const StoredAnswer>(std::move(answer));
}

bool IsAnswerOf(size_t key, const StoredAnswer& answer) {
  const StoredAnswerPtr right = AnswerOf(key);
  return answer.whole && answer.body == right->body && answer.code == right->code &&
         answer.head.size() == 1 && answer.head[0].value == right->head[0].value &&
         answer.trailers.size() == 1 && answer.trailers[0].value == "0";
}

class Pod;

class Caller final : private DedupeClient {
 public:
  Caller(Pod& pod, size_t key, uint64_t luck);
  bool over() const { return over_; }
  void GiveUp();
  Instant since() const { return since_; }

 private:
  void Ask(Instant now);
  void Run(Instant now);
  void Tell(const DedupeAnswer& answer);
  void OnKey(Instant now) override { Run(now); }
  void OnKeyUnknown(Instant now) override { Ask(now); }
  void OnKeyAnswer(const DedupeAnswer& answer, Instant) override { Tell(answer); }

  Pod& pod_;
  const size_t key_;
  const uint64_t luck_;
  const Instant since_ = net::ReadClock();
  DedupePlace place_;
  bool over_ = false;
};

// A sidecar: its table, its stores, and one thread that makes the calls.
class Pod {
 public:
  Pod(const StoreSpec& store, Ledger& its_ledger, uint64_t seed)
      : ledger(its_ledger), random_(seed), stores_(metrics_, [] {}) {
    DedupePolicy policy{.store = "shared", .claim = absl::Seconds(1)};
    table = std::make_shared<DedupeTable>(
        policy, 1, [this](int) { Wake(); },
        DedupeTable::Shared{.store = &stores_.keys(), .name = "app\n", .seed = random_.Next()});
    stores_.Configure({store}, {});
  }
  ~Pod() { stores_.Stop(); }

  // Makes a call with each of the keys, and again while the store is away.
  void Run(std::vector<size_t> keys) {
    keys_ = std::move(keys);
    while (!keys_.empty() || !calls_.empty()) {
      const size_t most = away ? 1 : kUnderWay;
      while (!keys_.empty() && calls_.size() < most) {
        const size_t key = keys_.back();
        keys_.pop_back();
        calls_.emplace_back(*this, key, random_.Next());
      }
      table->Answer(0, net::ReadClock());
      Collect();
      std::unique_lock lock(mutex_);
      woken_.wait_for(lock, std::chrono::milliseconds(20), [this] { return is_woken_; });
      is_woken_ = false;
    }
  }
  void Again(size_t key) {
    keys_.push_back(key);
    away = true;
  }

  bool away = false;  // of the store: then calls go one by one
  Ledger& ledger;
  std::shared_ptr<DedupeTable> table;

 private:
  void Wake() {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    woken_.notify_one();
  }
  void Collect() {
    const Instant now = net::ReadClock();
    for (Caller& call : calls_) {
      if (!call.over() && now - call.since() > absl::Seconds(3)) call.GiveUp();
    }
    ledger.ended +=
        static_cast<int>(calls_.remove_if([](const Caller& call) { return call.over(); }));
    ledger.ended.notify_all();
  }

  Random random_;
  Metrics metrics_{Metrics::Options()};
  SharedStores stores_;
  std::vector<size_t> keys_;
  std::list<Caller> calls_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_woken_ = false;
};

Caller::Caller(Pod& pod, size_t key, uint64_t luck)
    : pod_(pod), key_(key), luck_(luck), place_(*this, 0, absl::StrCat(key)) {
  Ask(since_);
}

void Caller::Ask(Instant now) {
  Sha256 digest{};
  digest[0] = static_cast<uint8_t>(key_);
  const auto step = pod_.table->Ask(place_, digest, now);
  if (step.kind == DedupeTable::Step::Kind::kFirst) Run(now);
  if (step.kind == DedupeTable::Step::Kind::kAnswered) Tell(step.answer);
}

// The call has the key. In one case of ten it gets lost before or after the work.
void Caller::Run(Instant now) {
  over_ = true;
  pod_.away = false;
  const uint64_t luck = luck_ % 20;
  if (luck == 0) return pod_.table->End(place_, DedupeEnding::kReleased, nullptr, now);
  if (luck == 1) return pod_.table->End(place_, DedupeEnding::kUnknown, nullptr, now);
  ++pod_.ledger.runs[key_];
  ++pod_.ledger.ran;
  if (luck == 2) return pod_.table->End(place_, DedupeEnding::kUnknown, nullptr, now);
  pod_.table->End(place_, DedupeEnding::kKept, AnswerOf(key_), now);
}

void Caller::Tell(const DedupeAnswer& answer) {
  over_ = true;
  if (answer.kind == DedupeAnswer::Kind::kReplay) {
    ++(IsAnswerOf(key_, *answer.stored) ? pod_.ledger.replayed : pod_.ledger.other);
  } else if (answer.kind == DedupeAnswer::Kind::kLost) {
    ++pod_.ledger.lost;
  } else {
    ++pod_.ledger.refused;
    if (answer.kind == DedupeAnswer::Kind::kStoreAway) pod_.Again(key_);
  }
}

void Caller::GiveUp() {
  over_ = true;
  ++pod_.ledger.refused;
  pod_.table->Withdraw(place_, net::ReadClock());
}

// A directory that goes with this object.
struct TempDir {
  TempDir() {
    std::string name = testing::TempDir() + "levee_keys_XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path = name;
  }
  ~TempDir() { std::filesystem::remove_all(path); }
  std::string path;
};

TEST(KeyLedger, I1_NoKeyRunsTwiceWhileRedisComesAndGoes) {
  if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  const TempDir dir;
  RedisProcess redis({"--dir", dir.path, "--appendonly", "yes"});
  const StoreSpec store{.name = "shared",
                        .host = "127.0.0.1",
                        .port = redis.port(),
                        .username = "",
                        .password = "",
                        .prefix = "levee:",
                        .timeout = absl::Milliseconds(200)};
  Random random(1);
  std::array<std::vector<size_t>, kPods> keys;
  size_t calls = 0;
  for (size_t key = 0; key < kKeys; ++key) {
    const uint64_t times = 1 + random.Below(5);
    calls += times;
    for (uint64_t i = 0; i < times; ++i) keys[random.Below(kPods)].push_back(key);
  }
  Ledger ledger;
  std::deque<Pod> pods;
  for (size_t i = 0; i < kPods; ++i) pods.emplace_back(store, ledger, i + 1);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kPods; ++i) threads.emplace_back([&, i] { pods[i].Run(keys[i]); });
  // Each fault comes after another part of the calls.
  constexpr size_t kFaults = 30;
  for (size_t fault = 1; fault < kFaults; ++fault) {
    ledger.Await(static_cast<int>(calls * fault / kFaults));
    if (fault % 10 == 5) {
      redis.Kill();
      redis.Restart();
    } else if (fault % 5 == 0) {
      redis.Signal(SIGSTOP);
      ledger.Await(ledger.ended + 100);
      redis.Signal(SIGCONT);
    } else {
      redis.Command({"CLIENT", "KILL", "TYPE", "normal"});
    }
  }
  for (std::thread& thread : threads) thread.join();
  size_t twice = 0;
  for (const auto& runs : ledger.runs) twice += runs > 1;
  EXPECT_EQ(twice, 0u);
  EXPECT_EQ(ledger.other, 0) << "answers that are not those of their keys";
  EXPECT_GE(static_cast<size_t>(ledger.ended), calls);
  EXPECT_GT(ledger.ran, static_cast<int>(kKeys / 2));
  EXPECT_GT(ledger.replayed, static_cast<int>(kKeys / 2));
  EXPECT_GT(ledger.lost, 0);
  std::printf("%zu calls: %d ran, %d replayed, %d lost, %d refused\n", calls, ledger.ran.load(),
              ledger.replayed.load(), ledger.lost.load(), ledger.refused.load());
}

}  // namespace
}  // namespace levee
