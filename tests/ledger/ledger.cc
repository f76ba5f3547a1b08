// SPDX-License-Identifier: Apache-2.0
// A soak with numbered calls through the real sidecar against upstreams that fail in every way that
// is known here. At the end every call has ended exactly once and ran no more often than allowed.
//
// usage: ledger [--calls N] [--seed S]
#include <dirent.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "integration/sidecar_process.h"
#include "ledger/access_log.h"
#include "ledger/book.h"
#include "ledger/caller.h"
#include "ledger/loop.h"
#include "ledger/number_options.h"
#include "ledger/schedule.h"
#include "ledger/sidecar_config.h"
#include "ledger/upstream.h"

namespace levee::ledger {
namespace {

constexpr int kEndpoints = 5;
constexpr int kConnections = 8;
constexpr int kStreams = 64;
constexpr int kReloads = 8;
constexpr int kSamples = 20;
constexpr std::chrono::seconds kReloadPause{1};

// One in so many calls comes around the drain, but no more than fit well into its timeout.
constexpr uint64_t kDrainShare = 50;
constexpr uint64_t kMostDrainCalls = 20'000;

// From so many calls on, every kind of fault must have occurred.
constexpr uint64_t kAllFaultsFrom = 100'000;

constexpr std::chrono::seconds kStuckAfter{30};
constexpr std::chrono::seconds kLateness{3};

struct Options {
  uint64_t calls = 20'000;
  uint64_t seed = 1;
};

// How much more memory the sidecar may have in the last quarter of a run than in the second.
constexpr double kGrowth = 1.2;
constexpr long kGrowthBytes = long{8} << 20;

// The address sanitizer keeps what is freed for a while.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kFreedMemoryIsKept = true;
#else
constexpr bool kFreedMemoryIsKept = false;
#endif

class Run {
 public:
  explicit Run(const Options& options);

  // Whether nothing was wrong.
  bool Do();

 private:
  void Soak();
  void CheckMetrics();
  void CheckDescriptors();
  void CheckMemory();
  void CheckFaults();
  void CheckBudget();
  void Drain();
  void Summarise() const;

  // Turns until all calls have ended, at both ends.
  template <typename EachTurn>
  void TurnUntilDone(EachTurn each_turn);
  template <typename Span>
  void TurnFor(Span span);
  // Whether the sidecar has died, or refuses connections.
  bool IsDead();
  void ReloadIfSettled();
  int Descriptors() const;
  uint64_t drain_calls() const { return std::min(options_.calls / kDrainShare, kMostDrainCalls); }
  void Expect(bool holds, const std::string& what);

  const Options options_;
  Loop loop_;
  LedgerSchedule schedule_;
  Book book_;
  AccessLog log_;
  std::vector<std::unique_ptr<Upstream>> upstreams_;
  std::vector<std::string> endpoints_;
  std::unique_ptr<TempFile> config_;
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<Caller> caller_;
  Clock::time_point started_ = Clock::now();
  int generation_ = 0;
  Clock::time_point reloaded_ = Clock::now();
  int descriptors_ = 0;
  uint64_t faults_ = 0;
  bool told_to_end_ = false;
  bool dead_ = false;
  std::vector<long> resident_;
};

Run::Run(const Options& options)
    : options_(options),
      schedule_(options.seed, options.calls),
      book_(options.seed, schedule_),
      log_(loop_, book_) {
  for (int i = 0; i < kEndpoints; ++i) {
    upstreams_.push_back(std::make_unique<Upstream>(loop_, schedule_, book_));
    endpoints_.push_back(upstreams_.back()->address());
  }
  config_ = std::make_unique<TempFile>(SidecarConfig(endpoints_, log_.path(), generation_));
  sidecar_ = SidecarProcess::Run({"--config", config_->path(), "--workers", "2"});
  caller_ = std::make_unique<Caller>(loop_, schedule_, book_, sidecar_->address());
}

void Run::Expect(bool holds, const std::string& what) {
  if (holds) return;
  ++faults_;
  std::printf("WRONG seed %llu: %s\n", static_cast<unsigned long long>(options_.seed),
              what.c_str());
}

int Run::Descriptors() const {
  const std::string path = "/proc/" + std::to_string(sidecar_->process().pid()) + "/fd";
  int count = 0;
  DIR* const folder = opendir(path.c_str());
  if (folder == nullptr) return -1;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

template <typename Span>
void Run::TurnFor(Span span) {
  const auto until = Clock::now() + span;
  while (Clock::now() < until) loop_.Turn(Millis(10));
}

bool Run::IsDead() {
  const bool ended = !told_to_end_ && sidecar_->process().HasEnded();
  if (!ended && !caller_->refused()) return false;
  Expect(false, ended ? "the sidecar has died" : "the sidecar refuses a connection");
  return true;
}

template <typename EachTurn>
void Run::TurnUntilDone(EachTurn each_turn) {
  auto moved = loop_.now();
  uint64_t seen = 0;
  while (caller_->left() > 0 || book_.open() > 0) {
    loop_.Turn(Millis(10));
    dead_ = IsDead();
    if (dead_) return;
    book_.Sweep(loop_.now());
    each_turn();
    const uint64_t now = book_.begun() + book_.sums().judged + book_.sums().logged;
    if (now != seen) {
      seen = now;
      moved = loop_.now();
    } else if (loop_.now() - moved > kStuckAfter) {
      Expect(false, std::to_string(book_.open()) + " calls do not end");
      break;
    }
  }
  TurnFor(kLateness);
  book_.Sweep(loop_.now(), /*all=*/true);
}

// Changes of which the first has not been seen yet are one.
void Run::ReloadIfSettled() {
  reloaded_ = loop_.now();
  if (sidecar_->Sum("levee_config_reloads_total", {R"(="success")"}) < generation_) return;
  const std::string fresh = config_->path() + ".new";
  std::ofstream(fresh) << SidecarConfig(endpoints_, log_.path(), ++generation_);
  std::rename(fresh.c_str(), config_->path().c_str());
}

void Run::Soak() {
  for (const auto& upstream : upstreams_) upstream->Open();
  const uint64_t calls = options_.calls - drain_calls();
  caller_->Begin(kConnections, kStreams, calls);
  TurnUntilDone([&] {
    if (book_.begun() > calls / (kReloads + 1) * static_cast<uint64_t>(generation_ + 1) &&
        generation_ < kReloads && loop_.now() - reloaded_ > kReloadPause) {
      ReloadIfSettled();
    }
    if (book_.begun() >= calls / kSamples * resident_.size()) {
      resident_.push_back(sidecar_->process().ResidentBytes());
    }
  });
}

void Run::CheckMetrics() {
  const auto sum = [&](const char* name, const std::vector<std::string>& labels = {}) {
    return static_cast<uint64_t>(sidecar_->Sum(name, labels));
  };
  const auto equal = [&](const char* what, uint64_t metric, uint64_t expected) {
    Expect(metric == expected, std::string(what) + " is " + std::to_string(metric) + ", not " +
                                   std::to_string(expected));
  };
  equal("levee_calls_total", sum("levee_calls_total"), book_.sums().logged);
  equal("levee_attempts_total", sum("levee_attempts_total"), book_.sums().attempts);
  equal("levee_active_calls", sum("levee_active_calls"), 0);
  equal("levee_replay_buffer_bytes", sum("levee_replay_buffer_bytes"), 0);
  equal("lost lines of the access log", sum("levee_limit_hits_total", {R"(limit="access_log")"}),
        0);
  equal("levee_config_reloads_total", sum("levee_config_reloads_total", {R"(="success")"}),
        static_cast<uint64_t>(generation_));
}

void Run::CheckBudget() {
  const auto plain = static_cast<size_t>(Method::kPlain);
  const double calls = static_cast<double>(book_.sums().calls_by_method[plain]);
  const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  const double allowed = calls * kTightRatio + kTightFloor * (seconds / kBudgetWindowSeconds + 1);
  const uint64_t made = book_.sums().retries_by_method[plain];
  Expect(static_cast<double>(made) <= allowed,
         std::to_string(made) + " retries where the budget allows " + std::to_string(allowed));
}

void Run::CheckDescriptors() {
  caller_->HangUp();
  for (const auto& upstream : upstreams_) upstream->Drop();
  const auto until = Clock::now() + kPatience;
  // Each count counts once: the sidecar opens a file for a moment now and then.
  int now_open = Descriptors();
  while (now_open > descriptors_ && Clock::now() < until) {
    TurnFor(Millis(10));
    now_open = Descriptors();
  }
  Expect(now_open <= descriptors_, std::to_string(now_open) + " descriptors, " +
                                       std::to_string(descriptors_) + " at the start");
}

void Run::CheckFaults() {
  if (options_.calls < kAllFaultsFrom) return;
  for (size_t i = 0; i < static_cast<size_t>(Fault::kStatus); ++i) {
    Expect(book_.sums().faults[i] > 0, "no fault: " + std::string(NameOf(static_cast<Fault>(i))));
  }
}

void Run::CheckMemory() {
  if (kFreedMemoryIsKept) return;
  const long early = resident_[resident_.size() / 4];
  const long late = resident_.back();
  Expect(static_cast<double>(late) <= static_cast<double>(early) * kGrowth + kGrowthBytes,
         "resident memory grew from " + std::to_string(early) + " to " + std::to_string(late));
}

// The sidecar is told to end while calls are under way and others still come.
void Run::Drain() {
  for (const auto& upstream : upstreams_) upstream->Open();
  const uint64_t calls = drain_calls();
  const uint64_t before = book_.begun();
  caller_->Begin(kConnections, kStreams, calls);
  TurnUntilDone([&] {
    if (told_to_end_ || book_.begun() < before + calls / 2) return;
    sidecar_->process().Signal(SIGTERM);
    told_to_end_ = true;
  });
  caller_->HangUp();
  const auto code = sidecar_->process().WaitForExit();
  Expect(code == 0, "the sidecar's exit code is " + (code ? std::to_string(*code) : "none"));
}

void Run::Summarise() const {
  const Book::Sums& sums = book_.sums();
  const auto line = [](std::string_view name, uint64_t count) {
    std::printf("  %-28.*s %10llu\n", static_cast<int>(name.size()), name.data(),
                static_cast<unsigned long long>(count));
  };
  std::printf("faults injected\n");
  for (size_t i = 0; i < kFaults; ++i) line(NameOf(static_cast<Fault>(i)), sums.faults[i]);
  for (size_t i = 0; i < kMoments; ++i) {
    const std::string moment(NameOf(static_cast<Moment>(i)));
    line("reset at " + moment, sums.moments[0][i]);
    line("kill at " + moment, sums.moments[1][i]);
  }
  line("caller hangs up", caller_->hang_ups());
  line("reload", static_cast<uint64_t>(generation_));
  std::printf("calls by status\n");
  for (const auto& [code, count] : sums.codes) line(code, count);
  std::printf("calls\n");
  line("judged", sums.judged);
  line("logged", sums.logged);
  line("never seen by the sidecar", sums.unlogged);
  line("attempts", sums.attempts);
  line("starts at endpoints", sums.starts);
  line("executions", sums.executions);
  line("most entries at a time", sums.most_entries);
  if (!resident_.empty()) {
    std::printf("resident memory %ld KiB, %ld KiB, %ld KiB; descriptors %d\n",
                resident_.front() / 1024, resident_[resident_.size() / 2] / 1024,
                resident_.back() / 1024, descriptors_);
  }
  std::printf("seed %llu, %.1f s: violations %llu in %llu calls, otherwise wrong %llu\n",
              static_cast<unsigned long long>(options_.seed),
              std::chrono::duration<double>(Clock::now() - started_).count(),
              static_cast<unsigned long long>(book_.violations()),
              static_cast<unsigned long long>(sums.judged),
              static_cast<unsigned long long>(faults_));
}

bool Run::Do() {
  TurnFor(Millis(300));
  descriptors_ = Descriptors();
  Soak();
  if (dead_) {
    Summarise();
    return false;
  }
  CheckMetrics();
  CheckMemory();
  CheckFaults();
  CheckBudget();
  CheckDescriptors();
  Drain();
  Summarise();
  return book_.violations() == 0 && faults_ == 0 && book_.sums().judged == options_.calls &&
         !testing::UnitTest::GetInstance()->Failed();
}

}  // namespace
}  // namespace levee::ledger

int main(int argc, char** argv) {
  levee::ledger::Options options;
  if (!levee::ledger::TakeNumbers(argc, argv,
                                  {{"--calls", &options.calls}, {"--seed", &options.seed}},
                                  "ledger [--calls N] [--seed S]")) {
    return 2;
  }
  return levee::ledger::Run(options).Do() ? 0 : 1;
}
