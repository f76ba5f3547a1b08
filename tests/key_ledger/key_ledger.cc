// SPDX-License-Identifier: Apache-2.0
// The ledger of idempotency keys: each key is used one to five times through three real sidecars
// that share a Redis, which is killed, stopped and replaced, and loses connections at its messages,
// while the application loses calls before and after their work. At the end every call has ended as
// run, replayed, refused or lost, and no key has run twice but what a failover may have forgotten.
//
// usage: key_ledger [--keys N] [--seed S]
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "integration/sidecar_process.h"
#include "key_ledger/application.h"
#include "key_ledger/key_book.h"
#include "key_ledger/plan.h"
#include "key_ledger/pod_callers.h"
#include "key_ledger/redis_relay.h"
#include "key_ledger/redis_trouble.h"
#include "ledger/number_options.h"

namespace levee::ledger {
namespace {

constexpr std::chrono::seconds kStuckAfter{60};

// From so many keys on, every kind of trouble must have occurred.
constexpr uint64_t kAllTroubleFrom = 50'000;

struct Options {
  uint64_t keys = 10'000;
  uint64_t seed = 1;
};

// A directory that goes with this object.
struct Folder {
  Folder() {
    std::string name = testing::TempDir() + "levee_keys_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::exit(1);
    path = name;
  }
  // A child of a Redis that was killed may still write there, for a moment.
  ~Folder() {
    std::error_code error = std::make_error_code(std::errc::interrupted);
    while (error) std::filesystem::remove_all(path, error);
  }
  std::string path;
};

std::string Config(const std::string& application, const std::string& redis) {
  return "listeners: [{name: ingress, address: \"127.0.0.1:0\", direction: inbound}]\n"
         "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n"
         "stores: [{name: shared, redis: [\"" +
         redis +
         "\"], timeout: 200ms}]\n"
         "upstreams: [{name: keys, endpoints: [\"" +
         application +
         "\"], reconnect: {initial: 5ms, max: 50ms}}]\n"
         "routes: [{match: {listener: ingress}, upstream: keys, policy: once}]\n"
         "policies:\n"
         "  - name: once\n"
         "    guard:\n"
         "      concurrency: {limit: none}\n"
         "      dedupe: {store: shared, claim: 1s, required: true, max_bytes: 32MiB}\n";
}

class Run {
 public:
  explicit Run(const Options& options);

  // Whether nothing was wrong.
  bool Do();

 private:
  void TurnUntilDone();
  void CheckSums();
  void CheckTrouble();
  void Summarise() const;
  double Sum(const char* name, const std::string& result) const;
  void Expect(bool holds, const std::string& what) {
    if (!holds) book_.Violate(what);
  }

  const Options options_;
  const Clock::time_point started_ = Clock::now();
  const Folder folder_;
  Loop loop_;
  KeyPlan plan_;
  KeyBook book_;
  Application application_;
  RedisRelay relay_;
  PodCallers callers_;
  std::unique_ptr<RedisTrouble> trouble_;  // of its thread until that has ended
  std::unique_ptr<TempFile> config_;
  std::array<std::unique_ptr<SidecarProcess>, kPods> pods_;
};

Run::Run(const Options& options)
    : options_(options),
      plan_(options.seed, static_cast<uint32_t>(options.keys)),
      book_(static_cast<uint32_t>(options.keys)),
      application_(loop_, plan_, book_),
      relay_(loop_, options.seed),
      callers_(loop_, plan_, book_, options.seed) {}

double Run::Sum(const char* name, const std::string& result) const {
  double sum = 0;
  for (const auto& pod : pods_) {
    sum += pod->Sum(name, result.empty() ? std::vector<std::string>()
                                         : std::vector<std::string>{"result=\"" + result + "\""});
  }
  return sum;
}

void Run::TurnUntilDone() {
  auto moved = loop_.now();
  uint64_t seen = 0;
  while (!callers_.done()) {
    loop_.Turn(Millis(10));
    if (book_.ended() != seen) {
      seen = book_.ended();
      moved = loop_.now();
    } else if (loop_.now() - moved > kStuckAfter) {
      Expect(false, std::to_string(book_.open()) + " calls do not end");
      return;
    }
  }
}

// The sum is exact, and the sidecars count as the callers do.
void Run::CheckSums() {
  const KeyBook::Sums sums = book_.Total();
  uint64_t ended = 0;
  for (size_t i = 0; i < kOutcomes; ++i) ended += book_.count(static_cast<Outcome>(i));
  Expect(ended == book_.begun(),
         std::to_string(ended) + " calls have ended of " + std::to_string(book_.begun()));
  Expect(sums.runs == sums.keys_run + sums.twice, "runs are not those of the keys");
  Expect(sums.twice <= sums.exposed, "more ran again than failovers had calls");
  const auto counted = static_cast<uint64_t>(Sum("levee_dedupe_calls_total", ""));
  // A call that was given up or whose deadline has passed may not have come to the store.
  Expect(counted <= book_.begun() && counted + sums.gave_up + sums.late >= book_.begun(),
         "the sidecars counted " + std::to_string(counted) + " calls with a key");
  const auto replays = static_cast<uint64_t>(Sum("levee_dedupe_calls_total", "replayed") +
                                             Sum("levee_dedupe_calls_total", "waited"));
  Expect(replays >= book_.count(Outcome::kReplayed) &&
             replays <= book_.count(Outcome::kReplayed) + sums.gave_up + sums.late,
         "the sidecars counted " + std::to_string(replays) + " replays");
}

void Run::CheckTrouble() {
  if (options_.keys < kAllTroubleFrom) return;
  for (size_t i = 0; i < kMoments; ++i) {
    Expect(application_.moments()[i] > 0,
           "nothing was cut at " + std::string(NameOf(static_cast<Moment>(i))));
  }
  for (const auto& way : relay_.cuts()) {
    for (const uint64_t cuts : way) Expect(cuts > 0, "Redis lost no connection at some moment");
  }
  Expect(trouble_->kills() > 0 && trouble_->stops() > 0 && trouble_->failovers() > 0,
         "Redis had less trouble than it was to have");
}

void Run::Summarise() const {
  const auto line = [](const std::string& name, uint64_t count) {
    std::printf("  %-32s %10llu\n", name.c_str(), static_cast<unsigned long long>(count));
  };
  const KeyBook::Sums sums = book_.Total();
  std::printf("requests at the application\n");
  for (size_t i = 0; i < kFates; ++i) {
    line(std::string(NameOf(static_cast<Fate>(i))), application_.fates()[i]);
  }
  for (size_t i = 0; i < kMoments; ++i) {
    line("cut at " + std::string(NameOf(static_cast<Moment>(i))), application_.moments()[i]);
  }
  std::printf("Redis\n");
  const auto& [commands, replies] = relay_.cuts();
  line("killed", trouble_->kills());
  line("stopped", trouble_->stops());
  line("failed over", trouble_->failovers());
  line("cut before, in, after a command", commands[0] + commands[1] + commands[2]);
  line("cut before, in, after a reply", replies[0] + replies[1] + replies[2]);
  std::printf("calls\n");
  line("ran", book_.count(Outcome::kRan));
  line("replayed", book_.count(Outcome::kReplayed));
  line("refused", book_.count(Outcome::kRefused));
  line("  the store was away", sums.store_away);
  line("  the application said so", sums.try_again);
  line("lost", book_.count(Outcome::kLost));
  line("  told so", sums.told);
  line("  cut off", sums.cut);
  line("  not answered in time", sums.late);
  line("  given up by the caller", sums.gave_up);
  line("in all", book_.begun());
  std::printf("keys\n");
  line("ran once or more", sums.keys_run);
  line("calls in failovers", sums.exposed);
  line("ran again after one", sums.twice);
  std::printf("seed %llu, %.1f s: violations %llu in %llu calls with %llu keys\n",
              static_cast<unsigned long long>(options_.seed),
              std::chrono::duration<double>(Clock::now() - started_).count(),
              static_cast<unsigned long long>(book_.violations()),
              static_cast<unsigned long long>(book_.begun()),
              static_cast<unsigned long long>(options_.keys));
}

bool Run::Do() {
  std::atomic<bool> begun = false, ends = false;
  // What a thread starts ends with it.
  std::thread redis([&] {
    trouble_ = std::make_unique<RedisTrouble>(relay_, book_, folder_.path);
    begun = true;
    begun.notify_all();
    trouble_->Run(options_.keys * 3);
    ends.wait(false);
  });
  begun.wait(false);
  config_ = std::make_unique<TempFile>(Config(application_.address(), relay_.address()));
  std::array<std::string, kPods> addresses;
  for (size_t i = 0; i < kPods; ++i) {
    pods_[i] = SidecarProcess::Run({"--config", config_->path(), "--workers", "1"});
    addresses[i] = pods_[i]->address("ingress");
  }
  callers_.Begin(addresses);
  TurnUntilDone();
  book_.Finish();
  CheckSums();
  callers_.HangUp();
  for (auto& pod : pods_) pod.reset();
  ends = true;
  ends.notify_all();
  redis.join();
  CheckTrouble();
  Summarise();
  return book_.violations() == 0 && !testing::UnitTest::GetInstance()->Failed();
}

}  // namespace
}  // namespace levee::ledger

int main(int argc, char** argv) {
  if (!levee::HasRedis()) {
    std::printf("skipped: redis-server is not installed\n");
    return 0;
  }
  levee::ledger::Options options;
  if (!levee::ledger::TakeNumbers(argc, argv,
                                  {{"--keys", &options.keys}, {"--seed", &options.seed}},
                                  "key_ledger [--keys N] [--seed S]")) {
    return 2;
  }
  return levee::ledger::Run(options).Do() ? 0 : 1;
}
