// SPDX-License-Identifier: Apache-2.0
// What Redis servers, sentinels and rate limit services answer: whatever it is, replies are the
// same however their bytes come, the map of nodes and the search for a primary name only servers
// that there can be and ask on, and no lease has more permits than were asked for, or is stuck.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "fuzz/byte_source.h"
#include "fuzz/store_replies.h"
#include "policy/permit_lease.h"
#include "policy/service_lease.h"
#include "rls/limit_message.h"
#include "store/key_script.h"
#include "store/key_slot.h"
#include "store/lease_script.h"
#include "store/node_map.h"
#include "store/primary_search.h"

namespace levee {
namespace {

constexpr int kMostSteps = 300;
constexpr Instant kStart = Instant::FromNanos(1'000'000'000'000);

bool CanBe(const ServerAddress& server) { return !server.host.empty() && server.port != 0; }

absl::Duration SomeTime(ByteSource& source) {
  const uint64_t number = source.Below(256);
  return source.Flag() ? absl::Milliseconds(number) : absl::Seconds(number);
}

// The map of a client that does with it what RedisClient does.
class Nodes {
 public:
  explicit Nodes(ByteSource& source)
      : source_(source), map_(Servers(1 + source.Below(3))), now_(kStart) {}

  void Run() {
    for (int i = 0; i < kMostSteps && !source_.empty(); ++i) {
      Step();
      Check();
    }
  }

 private:
  static std::vector<ServerAddress> Servers(size_t count) {
    std::vector<ServerAddress> servers;
    for (size_t i = 0; i < count; ++i) {
      servers.push_back({absl::StrCat("redis-", i), static_cast<uint16_t>(6379 + i)});
    }
    return servers;
  }

  ServerAddress Some() {
    const std::vector<ServerAddress> nodes = map_.Nodes(now_);
    return nodes[source_.Below(nodes.size())];
  }

  void Step() {
    switch (source_.Below(6)) {
      case 0:
        return TakeReply();
      case 1:
        return Learn();
      case 2: {
        const ServerAddress node = Some();
        ready_.insert(node);
        return map_.OnReady(node);
      }
      case 3: {
        const ServerAddress node = Some();
        ready_.erase(node);
        return map_.OnLost(node);
      }
      case 4:
        return Forget();
      default:
        now_ = now_ + SomeTime(source_);
        if (now_ >= map_.NextRefresh()) map_.OnAsked(now_);
    }
  }

  void TakeReply() {
    const std::string key = source_.Take(source_.Below(8));
    const int redirections = static_cast<int>(source_.Below(NodeMap::kMostRedirections + 1));
    const ServerAddress from = Some();
    const auto reply = NextReply(source_, SlotOf(key));
    if (!reply.has_value()) return;
    const NodeMap::Step step = map_.OnReply(key, from, *reply, redirections, now_);
    if (step.kind == NodeMap::Step::Kind::kDeliver) return;
    LEVEE_CHECK(CanBe(step.to) && redirections < NodeMap::kMostRedirections);
    // A command is sent there.
    const std::vector<ServerAddress> nodes = map_.Nodes(now_);
    LEVEE_CHECK(std::ranges::find(nodes, step.to) != nodes.end());
  }

  void Learn() {
    const auto reply = NextReply(source_, 0);
    if (!reply.has_value()) return;
    const std::vector<ServerAddress> before = map_.Nodes(now_);
    if (!map_.Learn(*reply, Some()).ok()) LEVEE_CHECK(map_.Nodes(now_) == before);
  }

  // As connections that are not needed end.
  void Forget() {
    const std::vector<ServerAddress> nodes = map_.Nodes(now_);
    for (auto it = ready_.begin(); it != ready_.end();) {
      const auto node = it++;
      if (std::ranges::find(nodes, *node) != nodes.end()) continue;
      map_.Forget(*node);
      ready_.erase(node);
    }
  }

  void Check() {
    const std::vector<ServerAddress> nodes = map_.Nodes(now_);
    LEVEE_CHECK(!nodes.empty() && nodes.size() <= 2 * NodeMap::kMostNodes + 3);
    LEVEE_CHECK(std::ranges::all_of(nodes, CanBe));
    LEVEE_CHECK(std::set<ServerAddress>(nodes.begin(), nodes.end()).size() == nodes.size());
    const bool complete = map_.complete();
    for (const std::string key : {"a", "{tag}b", "levee:1"}) {
      const ServerAddress* const node = map_.NodeOf(key);
      LEVEE_CHECK(node == nullptr || CanBe(*node));
      if (complete) LEVEE_CHECK(node != nullptr && ready_.contains(*node));
    }
    // What is not complete is asked for.
    if (map_.cluster() && !complete) {
      LEVEE_CHECK(map_.NextRefresh() <= now_ + NodeMap::kRefreshEvery);
    }
  }

  ByteSource& source_;
  NodeMap map_;
  Instant now_;
  std::set<ServerAddress> ready_;
};

void FindPrimary(ByteSource& source) {
  constexpr size_t kSentinels = 3;
  Random random(1);
  PrimarySearch search("main", kSentinels, random);
  Instant now = kStart;
  bool asking = false;
  bool known = false;
  for (int i = 0; i < kMostSteps && !source.empty(); ++i) {
    switch (source.Below(4)) {
      case 0:
        now = now + SomeTime(source);
        break;
      case 1:
        if (known) source.Flag() ? search.OnReady(now) : search.OnLost(now);
        break;
      default:
        if (!asking && now >= search.NextQuestion()) {
          asking = true;
          search.OnAsked();
        } else if (asking) {
          asking = false;
          const auto reply = NextReply(source, 0);
          const auto primary = search.OnAnswer(
              reply.has_value() ? absl::StatusOr<RedisReply>(*reply)
                                : absl::StatusOr<RedisReply>(absl::UnavailableError("away")),
              now);
          if (primary.has_value()) LEVEE_CHECK(CanBe(*primary));
          known |= primary.has_value();
        }
    }
    LEVEE_CHECK(search.sentinel() < kSentinels);
    if (!asking) LEVEE_CHECK(search.NextQuestion() <= now + 2 * PrimarySearch::kAgainAfter);
  }
}

// A bucket whose requests are answered by the input: `answer(want)` returns what was read, which
// never has more than was wanted.
template <typename Lease, typename Answer>
class Bucket {
 public:
  using Rule = typename Lease::Rule;

  // After `patience` it has asked again, or admits.
  Bucket(ByteSource& source, const Rule& rule, absl::Duration patience, Answer answer)
      : source_(source), rule_(rule), patience_(patience), answer_(std::move(answer)) {}

  void Run() {
    for (int i = 0; i < kMostSteps && !source_.empty(); ++i) {
      Step();
      const int64_t left = lease_.HoldingAt(rule_, now_).permits_left;
      LEVEE_CHECK(left >= 0 && left <= most_left_);
      CheckNotStuck();
    }
  }

 private:
  void Step() {
    switch (source_.Below(4)) {
      case 0:
        now_ = now_ + SomeTime(source_);
        break;
      case 1:
        if (asked_.want > 0) Tell();
        break;
      case 2:
        if (taken_ > 0) {
          --taken_;
          ++most_left_;
          lease_.Return(rule_, now_);
        }
        break;
      default:
        Take();
    }
  }

  void Take() {
    const auto decision = lease_.Take(rule_, now_);
    if (decision.verdict == LeaseVerdict::kAdmitted) ++taken_;
    if (decision.verdict == LeaseVerdict::kRefused)
      LEVEE_CHECK(decision.wait > absl::ZeroDuration());
    if (decision.request.want == 0) return;
    LEVEE_CHECK(asked_.want == 0 && decision.request.want > 0);
    asked_ = decision.request;
  }

  void Tell() {
    const absl::StatusOr<LeaseGrant> grant = answer_(asked_.want);
    if (!grant.ok()) {
      lease_.OnLost(rule_, static_cast<int>(1 + source_.Below(100)), now_);
    } else {
      LEVEE_CHECK(grant->granted >= 0 && grant->granted <= asked_.want);
      most_left_ += grant->granted;
      lease_.OnGrant(rule_, *grant, now_);
    }
    asked_ = {};
  }

  void CheckNotStuck() const {
    if (asked_.want > 0) return;
    Lease later = lease_;
    const auto decision = later.Take(rule_, now_ + patience_);
    LEVEE_CHECK(decision.request.want > 0 || decision.verdict == LeaseVerdict::kAdmitted);
  }

  ByteSource& source_;
  const Rule rule_;
  const absl::Duration patience_;
  Answer answer_;
  Lease lease_;
  Instant now_ = kStart;
  LeaseRequest asked_;
  int64_t taken_ = 0;
  int64_t most_left_ = 0;  // that were granted or given back
};

void LeaseFromStore(ByteSource& source) {
  constexpr double kRates[] = {1.0 / 86400, 0.5, 10, 1000, 1e9};
  const LeaseRule rule = {.per_second = kRates[source.Below(std::size(kRates))],
                          .burst = static_cast<int>(1 + source.Below(1000)),
                          .away = static_cast<StoreAway>(source.Below(3))};
  const absl::Duration fills =
      absl::Seconds((static_cast<double>(rule.StoreBurst()) + 1) / rule.per_second);
  const auto answer = [&source](int64_t want) -> absl::StatusOr<LeaseGrant> {
    const auto reply = NextReply(source, 0);
    if (!reply.has_value()) return absl::DeadlineExceededError("late");
    return ReadLeaseReply(*reply, want);
  };
  Bucket<PermitLease, decltype(answer)>(source, rule, fills + absl::Seconds(2), answer).Run();
}

void LeaseFromService(ByteSource& source) {
  const ServiceRule rule = {.lease = absl::Milliseconds(1 + source.Below(1000)),
                            .admits_when_away = source.Flag()};
  const auto answer = [&source](int64_t want) {
    return ReadLimitResponse(NextAnswer(source), want);
  };
  Bucket<ServiceLease, decltype(answer)>(source, rule, absl::Hours(367 * 24), answer).Run();
}

void ReadKeys(ByteSource& source) {
  for (int i = 0; i < kMostSteps && !source.empty(); ++i) {
    const auto reply = NextReply(source, 0);
    if (!reply.has_value()) continue;
    const absl::StatusOr<KeyReply> key = ReadAskReply(*reply, kStart);
    if (!key.ok()) continue;
    LEVEE_CHECK(key->done != key->claim.has_value());
    if (!key->claim.has_value()) continue;
    LEVEE_CHECK(key->claim->token.size() == KeyCommand::kTokenSize);
    LEVEE_CHECK(key->claim->expires == kStart + absl::Milliseconds(reply->list[1].integer));
  }
}

void Run(ByteSource& source) {
  switch (source.Below(5)) {
    case 0:
      return Nodes(source).Run();
    case 1:
      return FindPrimary(source);
    case 2:
      return LeaseFromStore(source);
    case 3:
      return LeaseFromService(source);
    default:
      return ReadKeys(source);
  }
}

}  // namespace
}  // namespace levee

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  levee::ByteSource source({data, size});
  levee::Run(source);
  return 0;
}
