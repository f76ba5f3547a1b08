// SPDX-License-Identifier: Apache-2.0
#include "store/redis_connection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "net/address.h"
#include "net/byte_stream.h"
#include "net/handshake_result.h"
#include "tls/failure.h"

namespace levee {
namespace {

constexpr absl::Duration kFirstDelay = absl::Milliseconds(50);
constexpr absl::Duration kLongestDelay = absl::Milliseconds(250);

// A server that answers so has no data to offer now, and another one may be behind its name.
constexpr std::string_view kElsewhere[] = {"READONLY", "LOADING", "MASTERDOWN"};

// Errors that say what to do next, and not that something was wrong.
constexpr std::string_view kSigns[] = {"NOSCRIPT", "MOVED", "ASK"};

using Result = RedisConnectionHandler::Result;

bool IsOneOf(const RedisReply& reply, std::span<const std::string_view> codes) {
  return std::ranges::any_of(codes, [&](std::string_view code) { return reply.IsError(code); });
}

absl::Duration Delay(int failures, Random& random) {
  const absl::Duration longest =
      std::min(kFirstDelay * (1 << std::min(failures, 8)), kLongestDelay);
  return longest * (1 + random.Uniform()) / 2;
}

}  // namespace

RedisConnection::RedisConnection(const Parts& parts, RedisServer server,
                                 RedisConnectionHandler& handler)
    : loop_(parts.loop),
      wheel_(parts.wheel),
      resolver_(parts.resolver),
      random_(parts.random),
      server_(std::move(server)),
      handler_(handler),
      next_step_(loop_.now()) {
  Rearm();
}

RedisConnection::~RedisConnection() {
  state_ = State::kAway;
  reason_ = "the connection is not needed any more";
  for (Pending& pending : std::exchange(pending_, {})) {
    if (pending.done != nullptr) pending.done(absl::UnavailableError(reason_));
  }
}

void RedisConnection::Send(std::string_view command, Done done) {
  if (state_ != State::kReady) {
    handler_.OnCommand(Result::kUnavailable, absl::ZeroDuration());
    done(absl::FailedPreconditionError(reason_));
  } else if (pending_.size() >= kMostPending) {
    handler_.OnCommand(Result::kUnavailable, absl::ZeroDuration());
    done(absl::ResourceExhaustedError("too many commands are under way"));
  } else {
    Queue(command, std::move(done));
    Rearm();
  }
}

void RedisConnection::Queue(std::string_view command, Done done) {
  output_ += command;
  pending_.push_back({loop_.now(), std::move(done)});
}

void RedisConnection::Flush() {
  if (!socket_.has_value() || !socket_->open() || output_.empty()) return;
  const size_t sent =
      socket_->Write(ByteSpan(reinterpret_cast<const uint8_t*>(output_.data()), output_.size()));
  output_.erase(0, sent);
}

Instant RedisConnection::NextTimer() const {
  if (state_ != State::kReady) return next_step_;
  if (pending_.empty()) return Instant::Infinite();
  const Instant stalled = pending_.front().sent + server_.patience;
  if (timed_out_ == pending_.size()) return stalled;
  return std::min(stalled, pending_[timed_out_].sent + server_.timeout);
}

void RedisConnection::OnTimer(Instant now) {
  if (state_ == State::kReady) {
    TimeOut(now);
    if (!pending_.empty() && now >= pending_.front().sent + server_.patience)
      Drop("it does not answer");
  } else if (now >= next_step_) {
    const bool shaking_hands = socket_.has_value() && socket_->shaking_hands();
    state_ == State::kAway
        ? Connect()
        : Drop(shaking_hands ? tls::FailureOf(tls::Result::kTimeout).text : "it does not answer");
  }
  Rearm();
}

void RedisConnection::TimeOut(Instant now) {
  while (timed_out_ < pending_.size() && now >= pending_[timed_out_].sent + server_.timeout) {
    Pending& late = pending_[timed_out_++];
    Tell({late.sent, std::exchange(late.done, nullptr)},
         absl::DeadlineExceededError("it does not answer in time"));
  }
}

void RedisConnection::Connect() {
  state_ = State::kResolving;
  next_step_ = loop_.now() + server_.patience;
  query_ = resolver_.Resolve(server_.address.host, server_.address.port, net::kKnownName,
                             [this](const absl::StatusOr<net::Resolver::Found>& found) {
                               Dial(found);
                               Rearm();
                             });
}

void RedisConnection::Dial(const absl::StatusOr<net::Resolver::Found>& found) {
  if (!found.ok()) return Drop(std::string(found.status().message()));
  state_ = State::kGreeting;
  connection_ = std::make_shared<bool>(true);
  reader_.emplace();
  const size_t chosen = random_.Below(found->addresses.size());
  net::ByteStream stream = net::ByteStream::Dial(found->addresses[chosen]);
  if (server_.tls.has_value()) {
    const ServerAddress& to = server_.address;
    const bool by_name = !net::Address::FromIp(to.host, to.port).has_value();
    stream.Secure(server_.tls->NewSession(by_name ? to.host : ""));
  }
  const bool ready = stream.state() == net::ByteStream::State::kReady;
  socket_.emplace(loop_, std::move(stream), static_cast<net::SocketHandler&>(*this));
  dialled_at_ = loop_.now();
  if (ready) Greet();
}

void RedisConnection::OnConnected() {
  connected_at_ = loop_.now();
  Greet();
}

void RedisConnection::Greet() {
  if (!server_.password.empty()) {
    std::vector<std::string_view> auth = {"AUTH"};
    if (!server_.username.empty()) auth.push_back(server_.username);
    auth.push_back(server_.password);
    Queue(FormatRedisCommand(auth), [this](const absl::StatusOr<RedisReply>& reply) {
      if (reply.ok() && reply->kind == RedisReply::Kind::kError) DropLater(reply->text);
    });
  }
  const std::string_view question[] = {server_.primary ? "ROLE" : "PING"};
  Queue(FormatRedisCommand(question),
        [this](const absl::StatusOr<RedisReply>& reply) { OnGreeted(reply); });
}

void RedisConnection::OnGreeted(const absl::StatusOr<RedisReply>& reply) {
  if (!reply.ok()) return;
  if (reply->kind == RedisReply::Kind::kError) return DropLater(reply->text);
  if (server_.primary) {
    if (reply->list.empty()) return DropLater("it does not say which role it has");
    const std::string& role = reply->list[0].text;
    if (role != "master") return DropLater(absl::StrCat("it is no primary: its role is ", role));
  }
  state_ = State::kReady;
  failures_ = 0;
  handler_.OnReady(server_.address);
}

void RedisConnection::TellHandshake() {
  const auto result = net::HandshakeResult(*socket_, connected_at_.has_value(), answered_);
  if (!result.has_value()) return;
  const Instant end = connected_at_.value_or(loop_.now());
  handler_.OnHandshake(*result, socket_->tls()->version(), end - dialled_at_);
}

void RedisConnection::OnBytes(ByteSpan bytes, const Chunk&) {
  if (!std::exchange(answered_, true)) TellHandshake();
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

void RedisConnection::OnReply(const RedisReply& reply) {
  Pending answered = std::move(pending_.front());
  pending_.pop_front();
  if (timed_out_ > 0) --timed_out_;
  if (IsOneOf(reply, kElsewhere)) DropLater(reply.text);
  Tell(std::move(answered), reply);
}

void RedisConnection::Tell(Pending pending, const absl::StatusOr<RedisReply>& reply) {
  if (pending.done == nullptr) return;
  // The greeting is no command of anybody.
  if (state_ == State::kReady) {
    Result result = Result::kOk;
    if (!reply.ok()) {
      result = Result::kTimeout;
    } else if (reply->kind == RedisReply::Kind::kError && !IsOneOf(*reply, kSigns)) {
      result = Result::kError;
    }
    handler_.OnCommand(result, loop_.now() - pending.sent);
  }
  pending.done(reply);
}

// Within an event of the socket it cannot be destroyed.
void RedisConnection::DropLater(std::string reason) {
  loop_.Post([this, reason = std::move(reason), alive = std::weak_ptr<bool>(connection_)] {
    if (!alive.expired()) Drop(reason);
  });
}

void RedisConnection::Drop(const std::string& reason) {
  std::deque<Pending> lost = std::exchange(pending_, {});
  timed_out_ = 0;
  query_.reset();
  if (socket_.has_value() && !answered_) TellHandshake();
  connected_at_.reset();
  answered_ = false;
  socket_.reset();
  reader_.reset();
  connection_.reset();
  output_.clear();
  reason_ = reason;
  next_step_ = loop_.now() + Delay(failures_++, random_);
  const bool was_ready = std::exchange(state_, State::kAway) == State::kReady;
  handler_.OnLost(server_.address, reason_);
  for (Pending& pending : lost) {
    if (pending.done == nullptr) continue;
    if (was_ready) handler_.OnCommand(Result::kUnavailable, loop_.now() - pending.sent);
    pending.done(absl::UnavailableError(reason_));
  }
  Rearm();
}

}  // namespace levee
