// SPDX-License-Identifier: Apache-2.0
#include "store/node_map.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "store/key_slot.h"

namespace levee {
namespace {

using Kind = RedisReply::Kind;

// A node that does not know its own address leaves the host out: it is that of the one who was
// asked.
std::optional<ServerAddress> AddressOf(std::string_view host, int64_t port,
                                       const ServerAddress& asked) {
  if (port < 1 || port > 65535) return std::nullopt;
  if (host.empty() || host == "?") host = asked.host;
  return ServerAddress{std::string(host), static_cast<uint16_t>(port)};
}

// Reads "MOVED 3999 10.0.0.7:6381", whose host may have colons or be left out.
std::optional<std::pair<uint16_t, ServerAddress>> ReadRedirection(const std::string& text,
                                                                  const ServerAddress& from) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  int slot = 0;
  int port = 0;
  if (words.size() < 3 || !absl::SimpleAtoi(words[1], &slot) || slot < 0 || slot >= kClusterSlots) {
    return std::nullopt;
  }
  const size_t colon = words[2].rfind(':');
  if (colon == std::string::npos || !absl::SimpleAtoi(words[2].substr(colon + 1), &port)) {
    return std::nullopt;
  }
  const auto to = AddressOf(std::string_view(words[2]).substr(0, colon), port, from);
  if (!to.has_value()) return std::nullopt;
  return std::pair(static_cast<uint16_t>(slot), *to);
}

struct Range {
  int64_t first = 0;
  int64_t last = 0;
  ServerAddress node;
};

// An element of CLUSTER SLOTS: first slot, last slot, the primary's host, port and more, replicas.
std::optional<Range> ReadRange(const RedisReply& reply, const ServerAddress& from) {
  if (reply.kind != Kind::kList || reply.list.size() < 3) return std::nullopt;
  const RedisReply& primary = reply.list[2];
  if (reply.list[0].kind != Kind::kInteger || reply.list[1].kind != Kind::kInteger ||
      primary.kind != Kind::kList || primary.list.size() < 2 ||
      primary.list[1].kind != Kind::kInteger) {
    return std::nullopt;
  }
  const auto node = AddressOf(primary.list[0].text, primary.list[1].integer, from);
  const int64_t first = reply.list[0].integer;
  const int64_t last = reply.list[1].integer;
  if (!node.has_value() || first < 0 || first > last || last >= kClusterSlots) return std::nullopt;
  return Range{first, last, *node};
}

}  // namespace

NodeMap::NodeMap(std::vector<ServerAddress> servers)
    : servers_(std::move(servers)),
      cluster_(servers_.size() > 1),
      owners_(kClusterSlots, kNobody),
      stale_(cluster_) {}

void NodeMap::Be(ServerAddress server) {
  servers_ = {std::move(server)};
  ready_.clear();
}

int16_t NodeMap::IndexOf(const ServerAddress& node) {
  const auto known = std::find(nodes_.begin(), nodes_.end(), node);
  const auto index = static_cast<int16_t>(known - nodes_.begin());
  if (known != nodes_.end()) return index;
  if (nodes_.size() == kMostNodes) return kNobody;
  nodes_.push_back(node);
  return index;
}

bool NodeMap::MakeGuest(const ServerAddress& node, Instant now) {
  std::erase_if(guests_, [&](const auto& guest) { return guest.second <= now; });
  if (guests_.size() == kMostNodes && !guests_.contains(node)) return false;
  guests_[node] = now + kGuestStays;
  return true;
}

const ServerAddress* NodeMap::NodeOf(std::string_view key) const {
  if (!cluster_) return servers_.empty() ? nullptr : &servers_[0];
  const int16_t owner = owners_[SlotOf(key)];
  if (owner != kNobody) return &nodes_[static_cast<size_t>(owner)];
  return ready_.empty() || refused_ ? nullptr : &*ready_.begin();  // It knows who has the key.
}

NodeMap::Step NodeMap::OnReply(std::string_view key, const ServerAddress& from,
                               const RedisReply& reply, int redirections, Instant now) {
  const bool moved = reply.IsError("MOVED ");
  const bool sent_on = moved || reply.IsError("ASK ");
  if (sent_on && !cluster_) cluster_ = stale_ = true;
  if (moved || reply.IsError("CLUSTERDOWN")) stale_ |= cluster_;
  if (!sent_on) return {};
  const auto read = ReadRedirection(reply.text, from);
  if (!read.has_value() || read->first != SlotOf(key)) return {};
  if (moved) {
    const int16_t index = IndexOf(read->second);
    if (index == kNobody) return {};
    owners_[read->first] = index;
  } else if (!MakeGuest(read->second, now)) {
    return {};
  }
  if (redirections >= kMostRedirections) return {};
  return {.kind = moved ? Step::Kind::kMoved : Step::Kind::kAsk, .to = read->second};
}

void NodeMap::OnLost(const ServerAddress& node) {
  ready_.erase(node);
  stale_ |= cluster_;
}

absl::Status NodeMap::Learn(const RedisReply& reply, const ServerAddress& from) {
  refused_ = reply.kind == Kind::kError;
  if (refused_) return absl::FailedPreconditionError(reply.text);
  if (reply.kind != Kind::kList) return absl::InternalError("the slots are not a list");
  std::vector<Range> ranges;
  std::set<ServerAddress> nodes;
  for (const RedisReply& element : reply.list) {
    const auto range = ReadRange(element, from);
    if (!range.has_value()) return absl::InternalError("the slots are not of their form");
    nodes.insert(range->node);
    ranges.push_back(*range);
  }
  if (nodes.size() > kMostNodes) return absl::InternalError("the cluster has too many nodes");
  if (ranges.empty()) return absl::FailedPreconditionError("the cluster has no slots yet");
  nodes_.clear();
  owners_.assign(kClusterSlots, kNobody);
  for (const Range& range : ranges) {
    const int16_t index = IndexOf(range.node);
    std::fill(owners_.begin() + range.first, owners_.begin() + range.last + 1, index);
  }
  // While a node is lost, or a slot has none, the cluster is about to change.
  stale_ = !complete();
  return absl::OkStatus();
}

std::set<ServerAddress> NodeMap::Owners() const {
  std::vector<bool> has(nodes_.size());
  for (const int16_t owner : owners_) {
    if (owner != kNobody) has[static_cast<size_t>(owner)] = true;
  }
  std::set<ServerAddress> owners;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (has[i]) owners.insert(nodes_[i]);
  }
  return owners;
}

std::vector<ServerAddress> NodeMap::Nodes(Instant now) const {
  if (!cluster_) return servers_;
  std::set<ServerAddress> nodes = Owners();
  if (std::ranges::none_of(nodes, [&](const auto& node) { return ready_.contains(node); })) {
    nodes.insert(servers_.begin(), servers_.end());
  }
  for (const auto& [guest, until] : guests_) {
    if (now < until) nodes.insert(guest);
  }
  return {nodes.begin(), nodes.end()};
}

Instant NodeMap::NextRefresh() const { return stale_ ? may_ask_ : Instant::Infinite(); }

void NodeMap::OnAsked(Instant now) { may_ask_ = now + kRefreshEvery; }

bool NodeMap::complete() const {
  if (!cluster_) return !servers_.empty() && ready_.contains(servers_[0]);
  const std::set<ServerAddress> owners = Owners();
  return std::ranges::find(owners_, kNobody) == owners_.end() &&
         std::ranges::all_of(owners, [&](const auto& node) { return ready_.contains(node); });
}

}  // namespace levee
