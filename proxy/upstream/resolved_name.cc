// SPDX-License-Identifier: Apache-2.0
#include "upstream/resolved_name.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "upstream/pool.h"

namespace levee {
namespace {

// Sidecars that got the same answer at the same time ask again spread over this share of its time
// to live. Sidecars that lost the same endpoint ask again spread over kLossJitter, and those that
// ask again and again spread their pauses by kPauseJitter.
constexpr double kTtlJitter = 0.2;
constexpr absl::Duration kLossJitter = absl::Milliseconds(500);
constexpr double kPauseJitter = 0.25;

// Calls do not wait for an answer if the one before took longer than this.
constexpr absl::Duration kQuickAnswer = absl::Milliseconds(100);

}  // namespace

ResolvedName::ResolvedName(WorkerIo& io, net::Resolver& resolver, const ConnectPolicy& policy,
                           Random& random, UpstreamSeries& series, Pool& pool, std::string host,
                           uint16_t port, net::Asker asker)
    : io_(io),
      resolver_(resolver),
      policy_(policy),
      random_(random),
      series_(series),
      pool_(pool),
      host_(std::move(host)),
      port_(port),
      asker_(asker) {
  Count();
}

ResolvedName::~ResolvedName() { Close(); }

void ResolvedName::Close() {
  query_.reset();
  Timer::Unlink();
  stale_ = false;
  closed_ = true;
  SetState(State::kIdle);
}

// A name without addresses shows as one endpoint.
std::optional<EndpointState> ResolvedName::shown() const {
  if (closed_) return std::nullopt;
  switch (state_) {
    case State::kIdle:
      return EndpointState::kIdle;
    case State::kAwaited:
      return EndpointState::kConnecting;
    case State::kFailing:
      return EndpointState::kFailing;
    case State::kKnown:
      return std::nullopt;
  }
  return std::nullopt;
}

void ResolvedName::Count() {
  const std::optional<EndpointState> now = shown();
  series_.endpoints.Move(absl::StrCat(host_, ":", port_), std::exchange(counted_, now), now);
}

EndpointView ResolvedName::View() const {
  EndpointView view;
  view.address = absl::StrCat(host_, ":", port_);
  view.host = host_;
  view.state = EndpointStateName(shown().value_or(EndpointState::kIdle));
  view.failure = failure_;
  return view;
}

void ResolvedName::SetState(State state) {
  state_ = state;
  Count();
  if (state == State::kFailing) {
    unreachable_.Report(io_.log, policy_.upstream, absl::StrCat(host_, ":", port_), failure_,
                        io_.loop.now());
  } else if (state == State::kKnown) {
    unreachable_.End(io_.loop.now());
  } else if (state == State::kIdle) {
    unreachable_.Forget();
  }
}

void ResolvedName::Use() {
  used_ = true;
  if (query_ != nullptr) query_->SetWanted(true);
  if (!std::exchange(stale_, false)) return;
  if (state_ != State::kKnown) SetState(State::kAwaited);
  Ask();
}

void ResolvedName::Release() {
  if (query_ != nullptr) query_->SetWanted(false);
}

void ResolvedName::AskSoon() {
  if (query_ != nullptr || urgent_) return;
  AskAt(std::max(io_.loop.now(), asked_at_ + kMinTtl) + kLossJitter * spread_);
}

// Returns when such a pause after the last look-up is over.
Instant ResolvedName::After(absl::Duration pause) const {
  return asked_at_ + pause * (1 + kPauseJitter * spread_);
}

void ResolvedName::AskNow(bool just_lost) {
  pressing_ = answered_quickly_;
  if (query_ != nullptr) return;
  const Instant when = After(just_lost ? kHastyPause : kPause);
  if (when <= io_.loop.now()) {
    Ask();
  } else {
    AskAt(when);
  }
}

void ResolvedName::AskAt(Instant when) {
  urgent_ = true;
  if (when < Timer::when()) io_.wheel.Arm(*this, when);
}

void ResolvedName::OnTimer(Instant) {
  if (used_ || urgent_) {
    Ask();
  } else {
    stale_ = true;
  }
}

void ResolvedName::Ask() {
  used_ = urgent_ = false;
  asked_at_ = io_.loop.now();
  spread_ = random_.Uniform();
  Timer::Unlink();
  const net::Asker asker = state_ == State::kKnown ? net::kKnownName : asker_;
  query_ = resolver_.Resolve(
      host_, port_, asker, [this](auto answer) { OnAnswer(std::move(answer)); },
      policy_.past_hosts_file ? net::HostsFile::kSkip : net::HostsFile::kRead);
}

void ResolvedName::OnAnswer(absl::StatusOr<net::Resolver::Found> answer) {
  query_.reset();
  const Instant now = io_.loop.now();
  pressing_ = false;
  answered_quickly_ = now - asked_at_ < kQuickAnswer;
  if (!answer.ok()) {
    failure_ = std::string(answer.status().message());
    io_.wheel.Arm(*this, std::max(now + backoff_.Next(policy_.reconnect, random_), After(kPause)));
    if (state_ != State::kKnown) SetState(State::kFailing);
    pool_.OnUnresolved(*this);
    return;
  }
  failure_.clear();
  backoff_.Restart();
  SetState(State::kKnown);
  const absl::Duration ttl = std::clamp(answer->ttl, kMinTtl, kMaxTtl);
  io_.wheel.Arm(*this, now + ttl * (1 + kTtlJitter * random_.Uniform()));
  pool_.OnResolved(*this, answer->addresses);
}

}  // namespace levee
