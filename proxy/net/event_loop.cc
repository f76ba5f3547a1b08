// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include <ctime>
#include <utility>

#include "absl/time/clock.h"
#include "base/check.h"
#include "net/event_loop_uv.h"

namespace levee::net {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;

}  // namespace

// libuv reads CLOCK_MONOTONIC.
Instant ReadClock() { return Instant::FromNanos(static_cast<int64_t>(uv_hrtime())); }

absl::Time WallClock() { return absl::Now(); }

const char* LibraryVersion() { return uv_version_string(); }

uint64_t RandomSeed() {
  uint64_t seed = 0;
  LEVEE_CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return seed;
}

EventLoop::Internals::Internals(EventLoop& owner)
    : loop(owner),
      posted_fd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      wakeup_fd(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  LEVEE_CHECK(posted_fd >= 0 && wakeup_fd >= 0);
  LEVEE_CHECK(uv_loop_init(&uv) == 0);
  uv_check_init(&uv, &check);
  LEVEE_CHECK(uv_poll_init(&uv, &posted, posted_fd) == 0);
  LEVEE_CHECK(uv_poll_init(&uv, &wakeup, wakeup_fd) == 0);
  check.data = posted.data = wakeup.data = this;
  uv_check_start(&check, OnCheck);
  uv_poll_start(&posted, UV_READABLE, OnPosted);
  uv_poll_start(&wakeup, UV_READABLE, OnWakeup);
}

EventLoop::Internals::~Internals() {
  close(posted_fd);
  close(wakeup_fd);
}

void EventLoop::Internals::OnCheck(uv_check_t* check) {
  static_cast<Internals*>(check->data)->loop.EndTurn();
}

void EventLoop::Internals::AnnouncePosted() {
  const uint64_t one = 1;
  LEVEE_CHECK(write(posted_fd, &one, sizeof one) == sizeof one);
}

void EventLoop::Internals::OnPosted(uv_poll_t* posted, int, int) {
  auto* internals = static_cast<Internals*>(posted->data);
  uint64_t count = 0;
  LEVEE_CHECK(read(internals->posted_fd, &count, sizeof count) == sizeof count);
  internals->loop.RunPosted();
}

void EventLoop::Internals::BeginTurn() {
  if (std::exchange(loop.turn_started_, true)) return;
  loop.now_ = ReadClock();
}

void EventLoop::Internals::WakeAt(Instant when) {
  if (when == wake_at) return;
  wake_at = when;
  itimerspec at{};  // of zeros, disarms
  if (!when.is_infinite()) {
    at.it_value.tv_sec = when.nanos() / kNanosPerSecond;
    at.it_value.tv_nsec = when.nanos() % kNanosPerSecond;
  }
  LEVEE_CHECK(timerfd_settime(wakeup_fd, TFD_TIMER_ABSTIME, &at, nullptr) == 0);
}

// Only ends the poll: the turn runs all timers that are due.
void EventLoop::Internals::OnWakeup(uv_poll_t* wakeup, int, int) {
  auto* internals = static_cast<Internals*>(wakeup->data);
  uint64_t expirations = 0;
  // Nothing is there to read where the timer was set anew since the poll.
  if (read(internals->wakeup_fd, &expirations, sizeof expirations) < 0) return;
  internals->wake_at = Instant::Infinite();
}

EventLoop::EventLoop() : internals_(std::make_unique<Internals>(*this)), now_(ReadClock()) {}

EventLoop::~EventLoop() {
  // The owners have closed all handles except the loop's own. Their close callbacks, and then ours,
  // need further turns.
  for (auto& signal : internals_->signals) {
    uv_close(reinterpret_cast<uv_handle_t*>(&signal->handle), nullptr);
  }
  for (uv_handle_t* handle : {reinterpret_cast<uv_handle_t*>(&internals_->check),
                              reinterpret_cast<uv_handle_t*>(&internals_->posted),
                              reinterpret_cast<uv_handle_t*>(&internals_->wakeup)}) {
    uv_close(handle, nullptr);
  }
  uv_run(&internals_->uv, UV_RUN_DEFAULT);
  LEVEE_CHECK(uv_loop_close(&internals_->uv) == 0);
}

void EventLoop::SetTurnHandler(TurnHandler* handler) { turn_handler_ = handler; }

void EventLoop::Run() {
  internals_->AnnouncePosted();  // The first turn comes at once.
  uv_run(&internals_->uv, UV_RUN_DEFAULT);
  stop_ = false;
}

void EventLoop::Stop() {
  Post([this] { stop_ = true; });
}

void EventLoop::Post(absl::AnyInvocable<void()> task) {
  bool first = false;
  {
    const std::lock_guard lock(posted_mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(task));
  }
  if (first) internals_->AnnouncePosted();
}

void EventLoop::RunPosted() {
  internals_->BeginTurn();
  std::vector<absl::AnyInvocable<void()>> tasks;
  {
    const std::lock_guard lock(posted_mutex_);
    tasks.swap(posted_);
  }
  for (auto& task : tasks) {
    if (TurnIsFull()) {
      EndTurn();
      internals_->BeginTurn();
    }
    task();
  }
}

void EventLoop::StartTurn() { internals_->BeginTurn(); }

void EventLoop::EndTurn() {
  internals_->BeginTurn();
  if (turn_handler_ != nullptr) internals_->WakeAt(turn_handler_->OnTurnEnd(now_));
  turn_started_ = false;
  read_in_turn_ = 0;
  if (stop_) uv_stop(&internals_->uv);
}

void EventLoop::OnSignal(int signal, std::function<void()> handler) {
  auto entry = std::make_unique<Internals::Signal>();
  entry->handler = std::move(handler);
  entry->handle.data = entry.get();
  uv_signal_init(&internals_->uv, &entry->handle);
  uv_signal_start(
      &entry->handle,
      [](uv_signal_t* handle, int) { static_cast<Internals::Signal*>(handle->data)->handler(); },
      signal);
  internals_->signals.push_back(std::move(entry));
}

// Outlives its Watch until libuv has closed the handle.
struct EventLoop::Watch::State {
  uv_poll_t poll;
  EventLoop* loop;
  ReadyHandler* handler;
  int events = 0;

  void Start();
  static void OnPoll(uv_poll_t* poll, int status, int ready);
};

EventLoop::Watch::Watch(EventLoop& loop, int fd, ReadyHandler& handler)
    : state_(new State{{}, &loop, &handler}) {
  // The kernel refuses a socket only where it has no memory left, or the user no watch
  // (fs.epoll.max_user_watches). libuv itself ends the process where it finds that out later.
  LEVEE_CHECK(uv_poll_init(&loop.internals_->uv, &state_->poll, fd) == 0);
  state_->poll.data = state_;
}

EventLoop::Watch::~Watch() {
  state_->handler = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&state_->poll),
           [](uv_handle_t* handle) { delete static_cast<State*>(handle->data); });
}

void EventLoop::Watch::Set(bool read, bool write) {
  state_->events = (read ? UV_READABLE : 0) | (write ? UV_WRITABLE : 0);
  state_->Start();
}

void EventLoop::Watch::State::Start() {
  if (events == 0) {
    uv_poll_stop(&poll);
  } else {
    uv_poll_start(&poll, events, OnPoll);
  }
}

void EventLoop::Watch::State::OnPoll(uv_poll_t* poll, int status, int ready) {
  State* state = static_cast<State*>(poll->data);
  if (state->loop->TurnIsFull()) state->loop->EndTurn();
  if (state->handler == nullptr) return;
  state->loop->internals_->BeginTurn();
  // An error on the descriptor shows when it is read or written.
  const bool error = status < 0;
  state->handler->OnReady(error || (ready & UV_READABLE) != 0, error || (ready & UV_WRITABLE) != 0);
  // libuv has stopped the poll because of the error, but bytes that came before it are read first.
  if (error && state->handler != nullptr) state->Start();
}

}  // namespace levee::net
