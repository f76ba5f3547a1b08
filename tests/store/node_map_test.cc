// SPDX-License-Identifier: Apache-2.0
// Where commands go, by tables, and in clusters whose slots move while the map is old.
#include "store/node_map.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "store/key_slot.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using Kind = RedisReply::Kind;
using Step = NodeMap::Step;

const ServerAddress kA{"10.0.0.1", 6379}, kB{"10.0.0.2", 6379}, kC{"fd00::3", 6379};
const Instant kStart = Instant() + absl::Hours(1);

RedisReply Text(const std::string& text) { return {.kind = Kind::kText, .text = text}; }
RedisReply Number(int64_t number) { return {.kind = Kind::kInteger, .integer = number}; }
RedisReply List(std::vector<RedisReply> list) {
  return {.kind = Kind::kList, .list = std::move(list)};
}
RedisReply Error(const std::string& text) { return {.kind = Kind::kError, .text = text}; }

RedisReply Range(int64_t first, int64_t last, const ServerAddress& node) {
  return List({Number(first), Number(last), List({Text(node.host), Number(node.port), Text("id")}),
               List({Text("10.9.9.9"), Number(6379), Text("replica")})});
}

std::string Moved(std::string_view key, const ServerAddress& to) {
  return "MOVED " + std::to_string(SlotOf(key)) + " " + to.host + ":" + std::to_string(to.port);
}
std::string Asked(std::string_view key, const ServerAddress& to) {
  return "ASK " + Moved(key, to).substr(6);
}

// "foo" has slot 12182, and "bar" slot 5061.
NodeMap ThreeNodes() {
  NodeMap map({kA, kB});
  EXPECT_TRUE(
      map.Learn(List({Range(0, 5460, kA), Range(5461, 10922, kB), Range(10923, 16383, kC)}), kA)
          .ok());
  for (const ServerAddress& node : {kA, kB, kC}) map.OnReady(node);
  return map;
}

TEST(NodeMap, OneServerHasAllKeys) {
  NodeMap map({kA});
  EXPECT_EQ(*map.NodeOf("foo"), kA);
  EXPECT_FALSE(map.complete());
  map.OnReady(kA);
  EXPECT_TRUE(map.complete());
  map.OnLost(kA);
  EXPECT_FALSE(map.complete());
  EXPECT_TRUE(map.NextRefresh().is_infinite());
  EXPECT_THAT(map.Nodes(kStart), ElementsAre(kA));
}

TEST(NodeMap, WithoutAServerNoKeyHasANodeUntilOneIsNamed) {
  NodeMap map({});
  EXPECT_EQ(map.NodeOf("foo"), nullptr);
  EXPECT_TRUE(map.Nodes(kStart).empty());
  map.Be(kB);
  EXPECT_EQ(*map.NodeOf("foo"), kB);
  map.OnReady(kB);
  map.Be(kC);
  EXPECT_FALSE(map.complete());
  EXPECT_THAT(map.Nodes(kStart), ElementsAre(kC));
}

TEST(NodeMap, EachKeyHasTheNodeOfItsSlot) {
  const NodeMap map = ThreeNodes();
  EXPECT_EQ(*map.NodeOf("foo"), kC);
  EXPECT_EQ(*map.NodeOf("bar"), kA);
  EXPECT_TRUE(map.complete());
  EXPECT_THAT(map.Nodes(kStart), UnorderedElementsAre(kA, kB, kC));
}

TEST(NodeMap, BeforeTheMapIsKnownAnyNodeThatIsReadyIsAsked) {
  NodeMap map({kA, kB});
  EXPECT_EQ(map.NodeOf("foo"), nullptr);
  map.OnReady(kB);
  EXPECT_EQ(*map.NodeOf("foo"), kB);
  EXPECT_LE(map.NextRefresh(), kStart);
}

TEST(NodeMap, AServerThatIsNoClustersHasNoKeyOfOne) {
  NodeMap map({kA, kB});
  map.OnReady(kA);
  EXPECT_FALSE(map.Learn(Error("ERR This instance has cluster support disabled"), kA).ok());
  EXPECT_EQ(map.NodeOf("foo"), nullptr);
}

TEST(NodeMap, WhatAReplySaysIsDone) {
  struct Case {
    std::string reply;
    int redirections;
    Step::Kind kind;
    ServerAddress to;
    ServerAddress next;  // where the key's next command goes
    bool refresh;
  };
  const std::vector<Case> cases = {
      {Moved("foo", kB), 0, Step::Kind::kMoved, kB, kB, true},
      {Moved("foo", kB), NodeMap::kMostRedirections, Step::Kind::kDeliver, {}, kB, true},
      {Asked("foo", kB), 0, Step::Kind::kAsk, kB, kC, false},
      {Asked("foo", kB), NodeMap::kMostRedirections, Step::Kind::kDeliver, {}, kC, false},
      // An own address that the node does not know.
      {"MOVED 12182 :7000", 0, Step::Kind::kMoved, {"fd00::3", 7000}, {"fd00::3", 7000}, true},
      {"CLUSTERDOWN The cluster is down", 0, Step::Kind::kDeliver, {}, kC, true},
      {"TRYAGAIN Multiple keys", 0, Step::Kind::kDeliver, {}, kC, false},
      {"ERR no", 0, Step::Kind::kDeliver, {}, kC, false},
      // What is no redirection of this key leads nowhere.
      {Moved("bar", kB), 0, Step::Kind::kDeliver, {}, kC, true},
      {"MOVED 12182", 0, Step::Kind::kDeliver, {}, kC, true},
      {"MOVED 12182 10.0.0.2", 0, Step::Kind::kDeliver, {}, kC, true},
      {"MOVED 12182 10.0.0.2:0", 0, Step::Kind::kDeliver, {}, kC, true},
      {"MOVED 99999 10.0.0.2:1", 0, Step::Kind::kDeliver, {}, kC, true},
      {"ASK x 10.0.0.2:1", 0, Step::Kind::kDeliver, {}, kC, false},
  };
  for (const Case& c : cases) {
    NodeMap map = ThreeNodes();
    // The first map is asked for once more, now that all are ready.
    EXPECT_TRUE(
        map.Learn(List({Range(0, 5460, kA), Range(5461, 10922, kB), Range(10923, 16383, kC)}), kA)
            .ok());
    const Step step = map.OnReply("foo", kC, Error(c.reply), c.redirections, kStart);
    EXPECT_EQ(step.kind, c.kind) << c.reply;
    EXPECT_EQ(step.to, c.to) << c.reply;
    EXPECT_EQ(*map.NodeOf("foo"), c.next) << c.reply;
    EXPECT_EQ(!map.NextRefresh().is_infinite(), c.refresh) << c.reply;
  }
}

TEST(NodeMap, OneServerThatSendsOnIsAClusters) {
  NodeMap map({kA});
  map.OnReady(kA);
  const Step step = map.OnReply("foo", kA, Error(Moved("foo", kB)), 0, kStart);
  EXPECT_EQ(step.kind, Step::Kind::kMoved);
  EXPECT_TRUE(map.cluster());
  EXPECT_EQ(*map.NodeOf("foo"), kB);
  EXPECT_EQ(*map.NodeOf("bar"), kA);
  EXPECT_LE(map.NextRefresh(), kStart);
  EXPECT_THAT(map.Nodes(kStart), UnorderedElementsAre(kA, kB));
}

TEST(NodeMap, OneServerThatAsksForAnotherNodeIsAClustersToo) {
  NodeMap map({kA});
  map.OnReady(kA);
  const Step step = map.OnReply("foo", kA, Error(Asked("foo", kB)), 0, kStart);
  EXPECT_EQ(step.kind, Step::Kind::kAsk);
  EXPECT_TRUE(map.cluster());
  EXPECT_THAT(map.Nodes(kStart), UnorderedElementsAre(kA, kB));
  EXPECT_LE(map.NextRefresh(), kStart);
}

TEST(NodeMap, FollowsAThousandNodesAndNoMore) {
  NodeMap map({kA});
  map.OnReady(kA);
  const auto node = [](size_t i) { return ServerAddress{"n" + std::to_string(i), 6379}; };
  const auto kind = [&](const std::string& error) {
    return map.OnReply("foo", kA, Error(error), 0, kStart).kind;
  };
  for (size_t i = 0; i < NodeMap::kMostNodes; ++i) {
    ASSERT_EQ(kind(Moved("foo", node(i))), Step::Kind::kMoved);
    ASSERT_EQ(kind(Asked("foo", node(i))), Step::Kind::kAsk);
  }
  EXPECT_EQ(kind(Moved("foo", node(1000))), Step::Kind::kDeliver);
  EXPECT_EQ(kind(Asked("foo", node(1000))), Step::Kind::kDeliver);
  EXPECT_EQ(
      map.OnReply("foo", kA, Error(Asked("foo", node(1000))), 0, kStart + absl::Minutes(2)).kind,
      Step::Kind::kAsk)
      << "the others have been forgotten";
  ASSERT_TRUE(map.Learn(List({Range(0, 16383, kB)}), kA).ok());
  EXPECT_EQ(kind(Moved("foo", node(1000))), Step::Kind::kMoved);
}

TEST(NodeMap, DoesNotLearnAMapOfTooManyNodes) {
  NodeMap map = ThreeNodes();
  std::vector<RedisReply> ranges;
  for (int64_t i = 0; i <= static_cast<int64_t>(NodeMap::kMostNodes); ++i) {
    ranges.push_back(Range(i, i, {"n" + std::to_string(i), 6379}));
  }
  EXPECT_FALSE(map.Learn(List(ranges), kA).ok());
  EXPECT_THAT(map.Nodes(kStart), UnorderedElementsAre(kA, kB, kC));
  ranges.pop_back();
  EXPECT_TRUE(map.Learn(List(ranges), kA).ok());
}

TEST(NodeMap, ANodeThatGetsItsFirstSlotStaysKnownForAWhile) {
  NodeMap map = ThreeNodes();
  const ServerAddress guest{"10.0.0.4", 6379};
  map.OnReply("foo", kC, Error(Asked("foo", guest)), 0, kStart);
  const auto known = [&](absl::Duration after) {
    const auto nodes = map.Nodes(kStart + after);
    return std::ranges::find(nodes, guest) != nodes.end();
  };
  EXPECT_TRUE(known(absl::Seconds(59)));
  EXPECT_FALSE(known(absl::Seconds(60)));
}

TEST(NodeMap, AMapThatIsNotOfItsFormChangesNothing) {
  for (const RedisReply& reply :
       {RedisReply{}, Text("x"), Error("NOPERM"), List({}), List({Text("x")}),
        List({List({Number(0), Number(1)})}), List({Range(5, 4, kA)}), List({Range(0, 16384, kA)}),
        List({Range(-1, 4, kA)}), List({Range(0, 4, {"a", 0})}),
        List({Range(0, 4, kA), List({Number(5), Text("6"), List({Text("a"), Number(1)})})})}) {
    NodeMap map = ThreeNodes();
    EXPECT_FALSE(map.Learn(reply, kA).ok());
    EXPECT_TRUE(map.complete());
  }
}

TEST(NodeMap, WhileASlotHasNoNodeOrANodeIsLostTheMapIsAskedForAgainAndAgain) {
  NodeMap map = ThreeNodes();
  ASSERT_TRUE(map.Learn(List({Range(0, 16382, kA)}), kA).ok());
  EXPECT_FALSE(map.complete());
  map.OnAsked(kStart);
  EXPECT_EQ(map.NextRefresh(), kStart + NodeMap::kRefreshEvery);
  ASSERT_TRUE(map.Learn(List({Range(0, 16383, kA)}), kA).ok());
  EXPECT_TRUE(map.NextRefresh().is_infinite());
  map.OnLost(kA);
  EXPECT_EQ(map.NextRefresh(), kStart + NodeMap::kRefreshEvery);
  EXPECT_THAT(map.Nodes(kStart), UnorderedElementsAre(kA, kB));  // and those of the configuration
}

// A cluster of which the map knows what it is told. Its slots move, by ASK and then for good, and
// its nodes go away, and replicas stand in for them.
class SimulatedCluster {
 public:
  explicit SimulatedCluster(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 6; ++i) nodes_.push_back({"10.0.0." + std::to_string(i + 1), 6379});
    for (size_t slot = 0; slot < owners_.size(); ++slot) owners_[slot] = slot * 3 / kClusterSlots;
  }

  void Change() {
    const size_t slot = SlotOf(RandomKey());
    switch (random_.Below(3)) {
      case 0:  // A slot begins to move, or has moved.
        if (targets_[slot] != kNowhere) {
          owners_[slot] = targets_[slot];
          targets_[slot] = kNowhere;
        } else {
          targets_[slot] = random_.Below(nodes_.size());
          if (targets_[slot] == owners_[slot]) targets_[slot] = kNowhere;
        }
        break;
      case 1:  // All slots of a node are another's.
        TakeOver(random_.Below(nodes_.size()), random_.Below(nodes_.size()));
        break;
      default:
        owners_[slot] = random_.Below(nodes_.size());
        targets_[slot] = kNowhere;
    }
  }

  // The reply of a node to a command for the key: nil if it is carried out.
  RedisReply Command(const ServerAddress& at, std::string_view key, bool asking) {
    const size_t node = IndexOf(at);
    const uint16_t slot = SlotOf(key);
    if (owners_[slot] == node) {
      // Half of the keys of a slot that moves have moved.
      if (targets_[slot] == kNowhere || key.size() % 2 == 0) return {};
      return Error(Asked(key, nodes_[targets_[slot]]));
    }
    if (asking && targets_[slot] == node) return {};
    return Error(Moved(key, nodes_[owners_[slot]]));
  }

  RedisReply Slots() const {
    std::vector<RedisReply> ranges;
    for (uint16_t slot = 0; slot < kClusterSlots; ++slot) {
      if (slot > 0 && owners_[slot] == owners_[slot - 1]) {
        ranges.back().list[1].integer = slot;
      } else {
        ranges.push_back(Range(slot, slot, nodes_[owners_[slot]]));
      }
    }
    return List(std::move(ranges));
  }

  // Few keys, so that changes meet them.
  std::string RandomKey() {
    return "levee:" + std::string(random_.Below(2), 'x') + std::to_string(random_.Below(20));
  }
  std::vector<ServerAddress> seeds() const { return {nodes_[0], nodes_[1]}; }
  Random& random() { return random_; }

 private:
  static constexpr size_t kNowhere = SIZE_MAX;

  size_t IndexOf(const ServerAddress& node) const {
    return static_cast<size_t>(std::ranges::find(nodes_, node) - nodes_.begin());
  }
  void TakeOver(size_t from, size_t by) {
    for (size_t slot = 0; slot < owners_.size(); ++slot) {
      if (owners_[slot] != from) continue;
      owners_[slot] = by;
      targets_[slot] = kNowhere;
    }
  }

  Random random_;
  std::vector<ServerAddress> nodes_;
  std::vector<size_t> owners_ = std::vector<size_t>(kClusterSlots);
  std::vector<size_t> targets_ = std::vector<size_t>(kClusterSlots, kNowhere);
};

// Sends a command as the client does. Returns how often it was sent on; -1 if it was not carried
// out.
int SendOn(NodeMap& map, SimulatedCluster& cluster, const std::string& key, Instant now) {
  const ServerAddress* first = map.NodeOf(key);
  if (first == nullptr) return -1;
  ServerAddress at = *first;
  bool asking = false;
  for (int redirections = 0;; ++redirections) {
    const RedisReply reply = cluster.Command(at, key, asking);
    if (reply.kind != Kind::kError) return redirections;
    const Step step = map.OnReply(key, at, reply, redirections, now);
    if (step.kind == Step::Kind::kDeliver) return -1;
    const auto nodes = map.Nodes(now);
    EXPECT_NE(std::ranges::find(nodes, step.to), nodes.end()) << "no connection is kept to it";
    at = step.to;
    asking = step.kind == Step::Kind::kAsk;
    map.OnReady(at);
  }
}

TEST(NodeMap, InAClusterThatChangesEveryCommandFindsItsNode) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SimulatedCluster cluster(seed);
    NodeMap map(cluster.seeds());
    for (const ServerAddress& node : cluster.seeds()) map.OnReady(node);
    Instant now = kStart;
    int refreshes = 0;
    for (int i = 0; i < 400; ++i) {
      now = now + absl::Milliseconds(5);
      if (cluster.random().Below(10) == 0) cluster.Change();
      const int sent_on = SendOn(map, cluster, cluster.RandomKey(), now);
      // MOVED teaches the owner, and ASK leads on once.
      ASSERT_GE(sent_on, 0) << "seed " << seed;
      ASSERT_LE(sent_on, 2) << "seed " << seed;
      if (now < map.NextRefresh()) continue;
      map.OnAsked(now);
      ++refreshes;
      if (cluster.random().Below(4) == 0) continue;  // The reply is lost.
      ASSERT_TRUE(map.Learn(cluster.Slots(), cluster.seeds()[0]).ok());
      for (const ServerAddress& node : map.Nodes(now)) map.OnReady(node);
    }
    // At most one in kRefreshEvery, of 2 s.
    EXPECT_LE(refreshes, 5) << "seed " << seed;
  }
}

}  // namespace
}  // namespace levee
