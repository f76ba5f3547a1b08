// SPDX-License-Identifier: Apache-2.0
#include "store/redis_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "net/byte_stream.h"

namespace levee {
namespace {

// A connection is made, and a server says that it is ready, within this.
constexpr absl::Duration kPatience = absl::Seconds(1);

// A connection on which a command waits for so long is given up.
constexpr absl::Duration kStalled = absl::Seconds(1);

constexpr absl::Duration kFirstDelay = absl::Milliseconds(50);
constexpr absl::Duration kLongestDelay = absl::Milliseconds(250);

// A server that answers so has no data to offer now, and another one may be behind its name.
constexpr std::string_view kElsewhere[] = {"READONLY", "LOADING", "MASTERDOWN"};

absl::Duration Delay(int failures, Random& random) {
  const absl::Duration longest =
      std::min(kFirstDelay * (1 << std::min(failures, 8)), kLongestDelay);
  return longest * (1 + random.Uniform()) / 2;
}

}  // namespace

RedisClient::RedisClient(net::EventLoop& loop, TimerWheel& wheel, net::Resolver& resolver,
                         Random& random, RedisTarget target, RedisObserver* observer)
    : loop_(loop),
      wheel_(wheel),
      resolver_(resolver),
      random_(random),
      target_(std::move(target)),
      observer_(observer),
      next_step_(loop.now()) {
  Rearm();
}

RedisClient::~RedisClient() {
  state_ = State::kAway;
  reason_ = "the client has ended";
  for (Pending& pending : std::exchange(pending_, {})) {
    if (pending.done != nullptr) pending.done(absl::UnavailableError(reason_));
  }
}

void RedisClient::Send(std::span<const std::string> command, Done done) {
  if (state_ != State::kReady) {
    Observe(RedisObserver::Result::kUnavailable, absl::ZeroDuration());
    done(absl::UnavailableError(reason_));
  } else if (pending_.size() >= kMostPending) {
    Observe(RedisObserver::Result::kUnavailable, absl::ZeroDuration());
    done(absl::ResourceExhaustedError("too many commands are under way"));
  } else {
    Queue(command, std::move(done));
    Rearm();
  }
}

void RedisClient::Run(const RedisScript& script, std::vector<std::string> keys,
                      std::vector<std::string> args, Done done) {
  std::vector<std::string> command = {"EVALSHA", script.sha1(), absl::StrCat(keys.size())};
  command.insert(command.end(), std::make_move_iterator(keys.begin()),
                 std::make_move_iterator(keys.end()));
  command.insert(command.end(), std::make_move_iterator(args.begin()),
                 std::make_move_iterator(args.end()));
  Send(command, [this, body = script.body(), command,
                 done = std::move(done)](const absl::StatusOr<RedisReply>& reply) mutable {
    if (!reply.ok() || !reply->IsError("NOSCRIPT")) return done(reply);
    command[0] = "EVAL";
    command[1] = std::move(body);
    Send(command, std::move(done));
  });
}

void RedisClient::Queue(std::span<const std::string> command, Done done) {
  output_ += FormatRedisCommand(command);
  pending_.push_back({loop_.now(), std::move(done)});
  if (std::exchange(flush_posted_, true)) return;
  // All commands of a turn go out together.
  loop_.Post([this, alive = std::weak_ptr<bool>(connection_)] {
    if (alive.expired()) return;
    flush_posted_ = false;
    Flush();
  });
}

void RedisClient::Flush() {
  if (!socket_.has_value() || !socket_->open() || output_.empty()) return;
  const size_t sent =
      socket_->Write(ByteSpan(reinterpret_cast<const uint8_t*>(output_.data()), output_.size()));
  output_.erase(0, sent);
}

Instant RedisClient::NextTimer() const {
  if (state_ != State::kReady) return next_step_;
  if (pending_.empty()) return Instant::Infinite();
  const Instant stalled = pending_.front().sent + kStalled;
  if (timed_out_ == pending_.size()) return stalled;
  return std::min(stalled, pending_[timed_out_].sent + target_.timeout);
}

void RedisClient::OnTimer(Instant now) {
  if (state_ == State::kReady) {
    TimeOut(now);
    if (!pending_.empty() && now >= pending_.front().sent + kStalled) Drop("it does not answer");
  } else if (now >= next_step_) {
    state_ == State::kAway ? Connect() : Drop("it does not answer");
  }
  Rearm();
}

void RedisClient::TimeOut(Instant now) {
  while (timed_out_ < pending_.size() && now >= pending_[timed_out_].sent + target_.timeout) {
    Pending& late = pending_[timed_out_++];
    Tell({late.sent, std::exchange(late.done, nullptr)},
         absl::DeadlineExceededError("it does not answer in time"));
  }
}

void RedisClient::Connect() {
  state_ = State::kResolving;
  next_step_ = loop_.now() + kPatience;
  query_ = resolver_.Resolve(target_.host, target_.port, net::kKnownName,
                             [this](const absl::StatusOr<net::Resolver::Found>& found) {
                               Dial(found);
                               Rearm();
                             });
}

void RedisClient::Dial(const absl::StatusOr<net::Resolver::Found>& found) {
  if (!found.ok()) return Drop(std::string(found.status().message()));
  state_ = State::kGreeting;
  connection_ = std::make_shared<bool>(true);
  reader_.emplace();
  const size_t chosen = random_.Below(found->addresses.size());
  net::ByteStream stream = net::ByteStream::Dial(found->addresses[chosen]);
  const bool ready = stream.state() == net::ByteStream::State::kReady;
  socket_.emplace(loop_, std::move(stream), static_cast<net::SocketHandler&>(*this));
  if (ready) Greet();
}

void RedisClient::OnConnected() { Greet(); }

void RedisClient::Greet() {
  if (!target_.password.empty()) {
    std::vector<std::string> auth = {"AUTH"};
    if (!target_.username.empty()) auth.push_back(target_.username);
    auth.push_back(target_.password);
    Queue(auth, [this](const absl::StatusOr<RedisReply>& reply) {
      if (reply.ok() && reply->kind == RedisReply::Kind::kError) DropLater(reply->text);
    });
  }
  const std::string ping[] = {"PING"};
  Queue(ping, [this](const absl::StatusOr<RedisReply>& reply) { OnGreeted(reply); });
}

void RedisClient::OnGreeted(const absl::StatusOr<RedisReply>& reply) {
  if (!reply.ok()) return;
  if (reply->kind == RedisReply::Kind::kError) return DropLater(reply->text);
  state_ = State::kReady;
  failures_ = 0;
  if (observer_ != nullptr) observer_->OnConnected(true, "");
}

void RedisClient::OnBytes(ByteSpan bytes, const Chunk&) {
  reader_->Feed(bytes);
  for (;;) {
    const absl::StatusOr<std::optional<RedisReply>> reply = reader_->Next();
    if (!reply.ok()) {
      DropLater(std::string(reply.status().message()));
      break;
    }
    if (!reply->has_value()) break;
    if (pending_.empty()) {
      DropLater("it answers without a command");
      break;
    }
    OnReply(**reply);
  }
  Rearm();
}

void RedisClient::OnReply(const RedisReply& reply) {
  Pending answered = std::move(pending_.front());
  pending_.pop_front();
  if (timed_out_ > 0) --timed_out_;
  if (std::ranges::any_of(kElsewhere, [&](std::string_view code) { return reply.IsError(code); })) {
    DropLater(reply.text);
  }
  Tell(std::move(answered), reply);
}

void RedisClient::Tell(Pending pending, const absl::StatusOr<RedisReply>& reply) {
  using Result = RedisObserver::Result;
  if (pending.done == nullptr) return;
  // The greeting is no command of anybody.
  if (state_ == State::kReady) {
    Result result = Result::kOk;
    if (!reply.ok()) {
      result = Result::kTimeout;
    } else if (reply->kind == RedisReply::Kind::kError && !reply->IsError("NOSCRIPT")) {
      result = Result::kError;
    }
    Observe(result, loop_.now() - pending.sent);
  }
  pending.done(reply);
}

void RedisClient::Observe(RedisObserver::Result result, absl::Duration took) {
  if (observer_ != nullptr) observer_->OnCommand(result, took);
}

// Within an event of the socket it cannot be destroyed.
void RedisClient::DropLater(std::string reason) {
  loop_.Post([this, reason = std::move(reason), alive = std::weak_ptr<bool>(connection_)] {
    if (!alive.expired()) Drop(reason);
  });
}

void RedisClient::Drop(const std::string& reason) {
  std::deque<Pending> lost = std::exchange(pending_, {});
  timed_out_ = 0;
  query_.reset();
  socket_.reset();
  reader_.reset();
  connection_.reset();
  output_.clear();
  flush_posted_ = false;
  reason_ = reason;
  next_step_ = loop_.now() + Delay(failures_++, random_);
  const bool was_ready = std::exchange(state_, State::kAway) == State::kReady;
  if (observer_ != nullptr) observer_->OnConnected(false, reason);
  for (Pending& pending : lost) {
    if (pending.done == nullptr) continue;
    if (was_ready) Observe(RedisObserver::Result::kUnavailable, loop_.now() - pending.sent);
    pending.done(absl::UnavailableError(reason));
  }
  Rearm();
}

}  // namespace levee
