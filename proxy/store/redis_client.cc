// SPDX-License-Identifier: Apache-2.0
#include "store/redis_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

// No call waits for a sentinel.
constexpr absl::Duration kSentinelTimeout = absl::Milliseconds(500);

constexpr char kNoPrimary[] = "no sentinel has named the primary yet";

}  // namespace

RedisClient::RedisClient(const RedisConnection::Parts& parts, RedisTarget target,
                         RedisObserver* observer)
    : parts_(parts),
      target_(std::move(target)),
      observer_(observer),
      nodes_(target_.master.empty() ? target_.servers : std::vector<ServerAddress>()) {
  if (!target_.master.empty()) {
    search_.emplace(target_.master, target_.servers.size(), parts_.random);
    reason_ = kNoPrimary;
  }
  Sync();
  Rearm();
}

RedisClient::~RedisClient() {
  for (Held& held : std::exchange(held_, {})) {
    held.routed->done(absl::FailedPreconditionError("the client has ended"));
  }
}

void RedisClient::Flush() {
  for (const auto& [address, connection] : connections_) connection->Flush();
  if (question_ != nullptr) question_->Flush();
}

std::vector<RedisNode> RedisClient::Nodes() const {
  std::vector<RedisNode> nodes;
  for (const auto& [address, connection] : connections_) {
    const bool ready = connection->ready();
    nodes.push_back({address, ready, ready ? "" : connection->reason()});
  }
  return nodes;
}

void RedisClient::SetTls(const std::optional<tls::ClientSource>& tls) {
  target_.tls = tls;
  for (const auto& [address, connection] : connections_) connection->SetTls(tls);
}

void RedisClient::Send(std::string_view key, std::span<const std::string_view> command, Done done) {
  auto routed = std::make_unique<Routed>();
  routed->key = key;
  routed->command = FormatRedisCommand(command);
  routed->done = std::move(done);
  Route(std::move(routed));
}

void RedisClient::Run(const RedisScript& script, std::string_view key,
                      std::span<const std::string_view> args, Done done) {
  auto routed = std::make_unique<Routed>();
  routed->key = key;
  routed->command = script.Command(key, args);
  routed->script = &script;
  routed->done = std::move(done);
  Route(std::move(routed));
}

// Sends a command that no node has refused yet.
void RedisClient::Route(RoutedPtr routed) {
  const ServerAddress* node = nodes_.NodeOf(routed->key);
  if (node == nullptr) {
    OnCommand(Result::kUnavailable, absl::ZeroDuration());
    return routed->done(absl::FailedPreconditionError(reason_));
  }
  routed->give_up = parts_.loop.now() + target_.timeout;
  SendTo(*node, /*asking=*/false, std::move(routed));
}

RedisConnection* RedisClient::ConnectionTo(const ServerAddress& node) {
  const auto found = connections_.find(node);
  return found == connections_.end() ? nullptr : found->second.get();
}

// A command waits only for the first connection to a node that a cluster has named just now.
void RedisClient::SendTo(const ServerAddress& node, bool asking, RoutedPtr routed) {
  RedisConnection* const connection = ConnectionTo(node);
  if (nodes_.cluster() && (connection == nullptr || connection->in_making())) {
    held_.push_back({node, asking, std::move(routed)});
    SyncLater();
    return;
  }
  if (connection == nullptr) {
    OnCommand(Result::kUnavailable, absl::ZeroDuration());
    return routed->done(absl::FailedPreconditionError(reason_));
  }
  if (asking) {
    const std::string_view word[] = {"ASKING"};
    connection->Send(FormatRedisCommand(word), [](const absl::StatusOr<RedisReply>&) {});
  }
  routed->sent_on = connection;
  const Routed& sent = *routed;
  connection->Send(sent.command, [this, routed = std::move(routed)](
                                     const absl::StatusOr<RedisReply>& reply) mutable {
    OnReply(reply, std::move(routed));
  });
}

void RedisClient::OnReply(const absl::StatusOr<RedisReply>& reply, RoutedPtr routed) {
  if (!reply.ok() || reply->kind != RedisReply::Kind::kError) return routed->done(reply);
  if (routed->script != nullptr && reply->IsError("NOSCRIPT")) {
    routed->command = std::exchange(routed->script, nullptr)->WithBody(routed->command);
    routed->redirections = 0;
    return Route(std::move(routed));
  }
  const Instant now = parts_.loop.now();
  const NodeMap::Step step =
      nodes_.OnReply(routed->key, routed->sent_on->address(), *reply, routed->redirections, now);
  Rearm();
  if (step.kind == NodeMap::Step::Kind::kDeliver) return routed->done(reply);
  if (now >= routed->give_up) {
    return routed->done(absl::FailedPreconditionError("nodes send it on for too long"));
  }
  ++routed->redirections;
  SyncLater();
  SendTo(step.to, step.kind == NodeMap::Step::Kind::kAsk, std::move(routed));
}

void RedisClient::OnCommand(Result result, absl::Duration took) {
  if (observer_ != nullptr) observer_->OnCommand(result, took);
}

void RedisClient::OnHandshake(tls::Result result, tls::Version version, absl::Duration took) {
  if (observer_ != nullptr) observer_->OnHandshake(result, version, took);
}

template <typename Condition>
std::list<RedisClient::Held> RedisClient::TakeHeld(const Condition& condition) {
  std::list<Held> taken;
  for (auto held = held_.begin(); held != held_.end();) {
    const auto next = std::next(held);
    if (condition(*held)) taken.splice(taken.end(), held_, held);
    held = next;
  }
  return taken;
}

void RedisClient::OnReady(const ServerAddress& server) {
  ++changes_;
  nodes_.OnReady(server);
  if (search_.has_value()) search_->OnReady(parts_.loop.now());
  std::list<Held> ready = TakeHeld([&](const Held& held) { return held.to == server; });
  for (Held& held : ready) SendTo(server, held.asking, std::move(held.routed));
  TellIfConnected();
  Rearm();
}

void RedisClient::OnLost(const ServerAddress& server, const std::string& reason) {
  ++changes_;
  nodes_.OnLost(server);
  if (search_.has_value()) search_->OnLost(parts_.loop.now());
  TellAway(nodes_.cluster() || search_.has_value() ? absl::StrCat(server.Text(), ": ", reason)
                                                   : reason);
  FailHeld([&](const Held& held) { return held.to == server; });
  SyncLater();
  Rearm();
}

void RedisClient::TellIfConnected() {
  if (!nodes_.complete() || std::exchange(told_connected_, true)) return;
  if (observer_ != nullptr) observer_->OnConnected(true, "");
}

void RedisClient::TellAway(const std::string& reason) {
  reason_ = reason;
  told_connected_ = false;
  if (observer_ != nullptr) observer_->OnConnected(false, reason_);
}

template <typename Condition>
void RedisClient::FailHeld(const Condition& condition) {
  for (Held& held : TakeHeld(condition)) {
    OnCommand(Result::kUnavailable, absl::ZeroDuration());
    held.routed->done(
        absl::FailedPreconditionError(absl::StrCat("there is no connection to ", held.to.Text())));
  }
}

// Within an event of a connection none may be destroyed.
void RedisClient::SyncLater() {
  if (std::exchange(sync_posted_, true)) return;
  parts_.loop.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    sync_posted_ = false;
    Sync();
    Rearm();
  });
}

void RedisClient::Sync() {
  ++changes_;
  const std::vector<ServerAddress> wanted = nodes_.Nodes(parts_.loop.now());
  std::vector<std::unique_ptr<RedisConnection>> gone;  // They end when the map is as it will be.
  for (auto it = connections_.begin(); it != connections_.end();) {
    const auto next = std::next(it);
    if (std::ranges::find(wanted, it->first) == wanted.end()) {
      nodes_.Forget(it->first);
      gone.push_back(std::move(it->second));
      connections_.erase(it);
    }
    it = next;
  }
  for (const ServerAddress& node : wanted) {
    std::unique_ptr<RedisConnection>& connection = connections_[node];
    if (connection != nullptr) continue;
    connection = std::make_unique<RedisConnection>(parts_,
                                                   RedisServer{.address = node,
                                                               .username = target_.login.username,
                                                               .password = target_.login.password,
                                                               .timeout = target_.timeout,
                                                               .patience = target_.patience,
                                                               .tls = target_.tls,
                                                               .primary = search_.has_value()},
                                                   static_cast<RedisConnectionHandler&>(*this));
  }
}

Instant RedisClient::NextRefresh() const {
  const bool any = std::ranges::any_of(
      connections_, [](const auto& connection) { return connection.second->ready(); });
  return any ? nodes_.NextRefresh() : Instant::Infinite();
}

void RedisClient::Rearm() {
  Instant next = NextRefresh();
  if (search_.has_value()) next = std::min(next, search_->NextQuestion());
  for (const Held& held : held_) next = std::min(next, held.routed->give_up);
  parts_.wheel.Arm(*this, next);
}

void RedisClient::OnTimer(Instant now) {
  FailHeld([&](const Held& held) { return now >= held.routed->give_up; });
  if (now >= NextRefresh()) Refresh(now);
  if (search_.has_value() && now >= search_->NextQuestion()) AskSentinel();
  Rearm();
}

// Asks each node in its turn, since one that is cut off from the others knows old things.
void RedisClient::Refresh(Instant now) {
  std::vector<const ServerAddress*> ready;
  for (const auto& [address, connection] : connections_) {
    if (connection->ready()) ready.push_back(&address);
  }
  const ServerAddress node = *ready[refreshes_++ % ready.size()];
  nodes_.OnAsked(now);
  const std::string_view command[] = {"CLUSTER", "SLOTS"};
  ConnectionTo(node)->Send(FormatRedisCommand(command),
                           [this, node](const absl::StatusOr<RedisReply>& reply) {
                             if (!reply.ok()) return;
                             const absl::Status learnt = nodes_.Learn(*reply, node);
                             if (!learnt.ok())
                               TellAway(absl::StrCat(node.Text(), ": ", learnt.message()));
                             TellIfConnected();
                             SyncLater();
                             Rearm();
                           });
}

void RedisClient::AskSentinel() {
  search_->OnAsked();
  RedisServer sentinel = {.address = target_.servers[search_->sentinel()],
                          .username = target_.sentinel_login.username,
                          .password = target_.sentinel_login.password,
                          .timeout = std::max(target_.timeout, kSentinelTimeout),
                          .patience = target_.patience,
                          .tls = target_.tls};
  question_ = std::make_unique<SentinelQuestion>(
      parts_, std::move(sentinel), target_.master, static_cast<RedisConnectionHandler&>(*this),
      [this](const absl::StatusOr<RedisReply>& reply) { OnSentinel(reply); });
}

void RedisClient::OnSentinel(const absl::StatusOr<RedisReply>& reply) {
  question_.reset();
  const std::optional<ServerAddress> moved = search_->OnAnswer(reply, parts_.loop.now());
  if (moved.has_value()) {
    nodes_.Be(*moved);
    if (told_connected_) TellAway(absl::StrCat("the primary is ", moved->Text(), " from now on"));
    Sync();
  } else if (!search_->trouble().empty() && !connected()) {
    TellAway(search_->trouble());
  }
  Rearm();
}

}  // namespace levee
