// SPDX-License-Identifier: Apache-2.0
#include "guard/guard.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/block_cache.h"
#include "guard/adaptive_limit.h"

namespace levee {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr absl::Duration kFixedWindow = absl::Seconds(1);
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Of a count that one thread writes and others read.
template <typename T>
void Add(std::atomic<T>& count, T more) {
  count.store(count.load(kRelaxed) + more, kRelaxed);
}

// Returns how long calls take, each weighed with its own length.
absl::Duration WeighedTime(const std::vector<MethodSamples>& samples) {
  double seconds = 0;
  double squares = 0;
  for (const MethodSamples& method : samples) {
    seconds += absl::ToDoubleSeconds(method.time);
    squares += method.squares;
  }
  return absl::Seconds(seconds > 0 ? squares / seconds : 0);
}

MethodSamples operator+(const MethodSamples& one, const MethodSamples& other) {
  return {.method = other.method,
          .calls = one.calls + other.calls,
          .answered = one.answered + other.answered,
          .time = one.time + other.time,
          .squares = one.squares + other.squares};
}

MethodSamples operator-(const MethodSamples& now, const MethodSamples& before) {
  return {.method = now.method,
          .calls = now.calls - before.calls,
          .answered = now.answered - before.answered,
          .time = now.time - before.time,
          .squares = now.squares - before.squares};
}

// Whether calls that were cut short took longer than those that were answered. If not, they show
// nothing: they might have taken as long.
bool TookLonger(const MethodSamples& cut, const MethodSamples& answered) {
  return answered.calls == 0 ||
         cut.time / cut.calls > answered.time / static_cast<double>(answered.calls);
}

}  // namespace

struct Guard::Worker {
  struct Cell {
    std::atomic<int64_t> calls{0};
    std::atomic<int64_t> nanos{0};
    std::atomic<double> squares{0};  // of seconds

    MethodSamples Read(int method, bool answered) const {
      const int64_t count = calls.load(kRelaxed);
      return {.method = method,
              .calls = count,
              .answered = answered ? count : 0,
              .time = absl::Nanoseconds(nanos.load(kRelaxed)),
              .squares = squares.load(kRelaxed)};
    }
  };

  RetryDistribution arrivals;
  std::atomic<int64_t> arrived{0};  // calls
  std::atomic<int64_t> found{0};    // that they found in the service, together
  std::array<Cell, kMethods + 1> took;
  std::array<Cell, kMethods + 1> cut;

  std::function<void()> wake;
  IntrusiveList<GuardPlace> answers;  // under the guard's lock
};

std::unique_ptr<LimitRule> RuleOf(const ConcurrencyPolicy& policy) {
  if (policy.kind != ConcurrencyPolicy::Kind::kAdaptive) return nullptr;
  return std::make_unique<AdaptiveLimit>(policy.adaptive);
}

Guard::Guard(const GuardPolicy& policy, int workers, std::unique_ptr<LimitRule> rule)
    : policy_(policy),
      limit_(std::numeric_limits<int>::max()),
      sampled_from_(kNever),
      window_end_(kNever),
      queue_(policy.queue),
      rule_(std::move(rule)) {
  for (int i = 0; i < workers; ++i) workers_.push_back(std::make_unique<Worker>());
  if (policy.concurrency.kind == ConcurrencyPolicy::Kind::kFixed) {
    limit_ = policy.concurrency.fixed;
  } else if (rule_ != nullptr) {
    limit_ = policy.concurrency.adaptive.initial;
  }
  if (policy.concurrency.kind != ConcurrencyPolicy::Kind::kNone) {
    window_end_ = 0;  // the first call begins the first window
  }
}

Guard::~Guard() = default;

int Guard::MethodNumber(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = methods_.find(path);
  return found == methods_.end() ? kMethods : found->second;
}

int Guard::NameMethod(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const int next = static_cast<int>(methods_.size());
  const bool full = next == kMethods || path.size() > kMaxPath;
  if (full && !methods_.contains(path)) {
    ended_[kMethods].store(true, kRelaxed);
    return kMethods;
  }
  return methods_.try_emplace(path, next).first->second;
}

Guard::Slots Guard::GetSlots() const {
  const int limit = limit_.load(kRelaxed);
  return {.limit = limit < std::numeric_limits<int>::max() ? limit : 0,
          .streams = streams_.load(kRelaxed)};
}

void Guard::SetWake(int worker, std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  WorkerOf(worker).wake = std::move(wake);
}

bool Guard::TakeSlot() {
  if (in_flight_.fetch_add(1) < limit_.load(kRelaxed)) return true;
  in_flight_.fetch_sub(1);
  return false;
}

bool Guard::TryEnter(int worker_number, int previous, Instant now) {
  Worker& worker = WorkerOf(worker_number);
  worker.arrivals.Add(previous, now);
  if (now.nanos() >= sampled_from_.load(kRelaxed)) {
    Add<int64_t>(worker.arrived, 1);
    Add<int64_t>(worker.found, in_flight_.load(kRelaxed));
  }
  MayEndWindow(now);
  return waiting_.load() == 0 && TakeSlot();
}

Guard::Entry Guard::Enter(GuardPlace& place, GuardRank rank, Instant start_by, Instant now) {
  full_.store(true, kRelaxed);
  place.rank = rank;
  place.start_by = start_by;
  WorkerList wake;
  Entry entry;
  {
    const std::lock_guard lock(mutex_);
    queue_.Add(place, limit_.load(kRelaxed), now);
    place.state_ = GuardPlace::State::kQueued;
    waiting_.store(queue_.size());
    Settle(now, wake);
    if (place.state_ == GuardPlace::State::kQueued) {
      entry.waits = true;
      entry.look_at = NextDue();
    } else {
      // The answer is known at once.
      static_cast<ListLink<GuardPlace>&>(place).Unlink();
      if (std::exchange(place.state_, GuardPlace::State::kIdle) == GuardPlace::State::kRefused) {
        entry.refusal = place.refusal_;
        entry.refusal->reason = GuardReason::kConcurrency;
      }
    }
  }
  Wake(wake);
  return entry;
}

// Gives free slots to calls that wait, and finds those that have to go away. Under the lock.
void Guard::Settle(Instant now, WorkerList& wake) {
  while (queue_.size() > 0) {
    if (TakeSlot()) {
      GuardPlace& next = static_cast<GuardPlace&>(*queue_.Take(now));
      Decide(next, GuardPlace::State::kAdmitted, wake);
    } else if (!TakeBackLoan(now, wake)) {
      break;
    }
  }
  while (QueuedCall* const refused = queue_.TakeRefused(now)) {
    GuardPlace& place = static_cast<GuardPlace&>(*refused);
    if (now.nanos() >= sampled_from_.load(kRelaxed)) ++refused_;
    place.refusal_ = Refusal(GuardReason::kQueue, now);
    Decide(place, GuardPlace::State::kRefused, wake);
  }
  waiting_.store(queue_.size());
}

// The service may work on the call for as long as it takes its worker to be told. Under the lock.
bool Guard::TakeBackLoan(Instant now, WorkerList& wake) {
  GuardPlace* const place = lent_.PopFront();
  if (place == nullptr) return false;
  place->refusal_ = Refusal(GuardReason::kConcurrency, now);
  Decide(*place, GuardPlace::State::kRefused, wake);
  in_flight_.fetch_sub(1);
  return true;
}

std::optional<GuardRefusal> Guard::Lend(GuardPlace& place, int previous, Instant now) {
  const bool has_room = waiting_.load() == 0 && in_flight_.load() < limit_.load(kRelaxed);
  const bool has_slot = has_room && TryEnter(place.worker_, previous, now);
  WorkerList wake;
  {
    const std::lock_guard lock(mutex_);
    if (!has_slot) return Refusal(GuardReason::kConcurrency, now);
    place.state_ = GuardPlace::State::kLent;
    lent_.PushBack(place);
    // A call may have begun to wait before the loan could be seen.
    Settle(now, wake);
  }
  Wake(wake);
  return std::nullopt;
}

bool Guard::Keep(GuardPlace& place) {
  const std::lock_guard lock(mutex_);
  if (place.state_ != GuardPlace::State::kLent) return false;
  static_cast<ListLink<GuardPlace>&>(place).Unlink();
  place.state_ = GuardPlace::State::kIdle;
  return true;
}

void Guard::Decide(GuardPlace& place, GuardPlace::State state, WorkerList& wake) {
  place.state_ = state;
  Worker& worker = WorkerOf(place.worker_);
  if (worker.answers.empty()) wake.push_back(&worker);
  worker.answers.PushBack(place);
}

void Guard::Wake(const WorkerList& wake) {
  for (Worker* const worker : wake) worker->wake();
}

void Guard::Leave(int worker, int method, std::optional<absl::Duration> took, Instant now,
                  bool cut) {
  if (took.has_value() && now.nanos() >= sampled_from_.load(kRelaxed)) {
    Worker& of = WorkerOf(worker);
    Worker::Cell& cell = (cut ? of.cut : of.took)[static_cast<size_t>(method)];
    const double seconds = absl::ToDoubleSeconds(*took);
    Add<int64_t>(cell.calls, 1);
    Add<int64_t>(cell.nanos, absl::ToInt64Nanoseconds(*took));
    Add(cell.squares, seconds * seconds);
    if (method < kMethods) ended_[static_cast<size_t>(method)].store(true, kRelaxed);
  }
  in_flight_.fetch_sub(1);
  MayEndWindow(now);
  if (waiting_.load() > 0) LetNextGo(now);
}

void Guard::LetNextGo(Instant now) {
  WorkerList wake;
  {
    const std::lock_guard lock(mutex_);
    Settle(now, wake);
  }
  Wake(wake);
}

LoadReport Guard::EndLoad(bool failed, Instant now) {
  const int limit = limit_.load(kRelaxed);
  // The call that has ended was one of them.
  const double present = in_flight_.load(kRelaxed) + waiting_.load(kRelaxed) + 1;
  const bool limited = limit < std::numeric_limits<int>::max();
  return load_.OnEnd(failed, limited ? present / limit : 0, now);
}

void Guard::Withdraw(GuardPlace& place, Instant now) {
  bool had_slot = false;
  {
    const std::lock_guard lock(mutex_);
    if (place.state_ == GuardPlace::State::kQueued) {
      queue_.Remove(place);
      waiting_.store(queue_.size());
    }
    static_cast<ListLink<GuardPlace>&>(place).Unlink();
    const auto state = std::exchange(place.state_, GuardPlace::State::kIdle);
    had_slot = state == GuardPlace::State::kAdmitted || state == GuardPlace::State::kLent;
  }
  if (had_slot) {
    in_flight_.fetch_sub(1);
    LetNextGo(now);
  }
}

// Calls that wait for a limit to rise are no event that would end a window. Under the lock.
Instant Guard::NextDue() const {
  const Instant due = queue_.NextDue();
  if (queue_.size() == 0) return due;
  return std::min(due, Instant::FromNanos(window_end_.load(kRelaxed)));
}

Instant Guard::Answer(int worker, Instant now) {
  MayEndWindow(now);
  LetNextGo(now);
  while (true) {
    GuardPlace* place;
    GuardPlace::State state;
    {
      const std::lock_guard lock(mutex_);
      place = WorkerOf(worker).answers.PopFront();
      if (place == nullptr) return NextDue();
      state = std::exchange(place->state_, GuardPlace::State::kIdle);
    }
    GuardClient& client = place->client_;
    if (state == GuardPlace::State::kAdmitted) {
      client.OnSlot(now);
    } else {
      client.OnGuardRefused(GuardRefusal(place->refusal_), now);
    }
    // Each refusal makes an answer, and the call is freed only as the turn ends. A queue may refuse
    // thousands at once.
    if (BlocksUsedUp()) return now + absl::Milliseconds(1);
  }
}

GuardRefusal Guard::Refusal(GuardReason reason, Instant now) {
  constexpr absl::Duration kLookEvery = absl::Milliseconds(100);
  if (now >= scope_until_) {
    scope_until_ = now + kLookEvery;
    scope_ = ScopeNow(Arrivals(now), now);
  }
  return {.reason = reason,
          .scope = scope_,
          .pushback = std::max(absl::Milliseconds(1), queue_.ExpectedWait())};
}

// Where callers retry, or would if they might, the service has no room and not this instance alone.
OverloadScope Guard::ScopeNow(const AttemptCounts& arrivals, Instant now) {
  const int64_t all = Sum(arrivals);
  if (all < policy_.scope.min_calls) return OverloadScope::kEndpoint;
  // The guard weighs reports against all calls, so that a report moves no more than its caller
  // could by calling.
  const double wanted = all == 0 ? 0 : reported_.Total(now).Wanted() / static_cast<double>(all);
  const double share = std::max(RetryShare(arrivals), wanted);
  return share > policy_.scope.retries ? OverloadScope::kService : OverloadScope::kEndpoint;
}

void Guard::Report(const RetryReport& report, int64_t calls, Instant now) {
  const std::lock_guard lock(mutex_);
  reported_.Add(report, calls, now);
}

AttemptCounts Guard::Arrivals(Instant now) const {
  AttemptCounts counts{};
  for (const auto& worker : workers_) worker->arrivals.AddTo(counts, now);
  return counts;
}

// A window that has lasted long enough is judged by one worker; no other waits for it.
void Guard::MayEndWindow(Instant now) {
  if (now.nanos() < window_end_.load(kRelaxed)) return;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || now.nanos() < window_end_.load(kRelaxed)) return;
    EndWindow(now);
  }
  if (waiting_.load() > 0) LetNextGo(now);
}

void Guard::EndWindow(Instant now) {
  // Of a limit that stays as it is.
  const LimitStep fixed = {.limit = limit_.load(kRelaxed), .measure = kFixedWindow};
  if (window_end_.load(kRelaxed) == 0) {
    BeginWindow(rule_ == nullptr ? fixed : rule_->Begin(), now);
    return;
  }
  const Sums sums = SumUp();
  const std::vector<MethodSamples> samples = Difference(sums);
  if (!samples.empty()) queue_.SetWork(WeighedTime(samples));
  std::optional<LimitStep> step = fixed;
  if (queue_.stopped(now)) {
    // The calls of a service that has stopped for a moment say nothing of its room.
    step->settle = step->measure = measure_;
  } else if (rule_ != nullptr) {
    LimitWindow window{.length = now - Instant::FromNanos(sampled_from_.load(kRelaxed)),
                       .samples = samples,
                       .answered = CallsOf(sums.samples) - CallsOf(before_.samples),
                       .cut = CallsOf(sums.cut) - CallsOf(before_.cut),
                       .full = full_.load(kRelaxed),
                       .unknown = new_.load(kRelaxed)};
    const auto arrived = static_cast<double>(sums.arrived - before_.arrived);
    if (arrived > 0) {
      window.refused = static_cast<double>(sums.refused - before_.refused) / arrived;
      window.in_flight = static_cast<double>(sums.found - before_.found) / arrived;
    }
    step = rule_->Next(window);
  }
  if (step.has_value()) {
    BeginWindow(*step, now);
  } else {
    window_end_.store((now + measure_).nanos(), kRelaxed);
  }
}

// Returns what was counted in the window: the methods that have calls.
std::vector<MethodSamples> Guard::Difference(const Sums& sums) const {
  std::vector<MethodSamples> samples;
  for (size_t i = 0; i < sums.samples.size(); ++i) {
    MethodSamples method = sums.samples[i] - before_.samples[i];
    if (const MethodSamples cut = sums.cut[i] - before_.cut[i];
        cut.calls > 0 && TookLonger(cut, method)) {
      method = method + cut;
    }
    if (method.calls > 0) samples.push_back(method);
  }
  return samples;
}

void Guard::BeginWindow(const LimitStep& step, Instant now) {
  limit_.store(step.limit);
  measure_ = step.measure;
  before_ = SumUp();
  full_.store(false, kRelaxed);
  sampled_from_.store((now + step.settle).nanos(), kRelaxed);
  window_end_.store((now + step.settle + step.measure).nanos(), kRelaxed);
}

Guard::Sums Guard::SumUp() const {
  Sums sums;
  sums.refused = refused_;
  sums.samples.resize(kMethods + 1);
  sums.cut.resize(kMethods + 1);
  for (const auto& worker : workers_) {
    sums.arrived += worker->arrived.load(kRelaxed);
    sums.found += worker->found.load(kRelaxed);
    for (size_t i = 0; i < sums.samples.size(); ++i) {
      sums.samples[i] = sums.samples[i] + worker->took[i].Read(static_cast<int>(i), true);
      sums.cut[i] = sums.cut[i] + worker->cut[i].Read(static_cast<int>(i), false);
    }
  }
  return sums;
}

GuardView Guard::View(Instant now) {
  GuardView view;
  view.observes = policy_.observe;
  view.arrivals = Arrivals(now);
  view.in_flight = in_flight_.load(kRelaxed);
  const Slots slots = GetSlots();
  view.limit = slots.limit;
  view.streams = slots.streams;
  if (policy_.concurrency.kind == ConcurrencyPolicy::Kind::kAdaptive) {
    view.least = policy_.concurrency.adaptive.min;
  }
  const std::lock_guard lock(mutex_);
  view.waiting = queue_.size();
  view.stands = queue_.stands();
  view.reported = reported_.Total(now);
  view.scope = ScopeNow(view.arrivals, now);
  return view;
}

}  // namespace levee
