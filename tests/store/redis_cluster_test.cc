// SPDX-License-Identifier: Apache-2.0
// Commands to a real cluster whose slots move and whose nodes are killed.
#include "store/redis_cluster.h"

#include <map>
#include <string>
#include <vector>

#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "store/client_run.h"
#include "store/key_slot.h"

namespace levee {
namespace {

class RedisClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  }

  void Start(const RedisCluster::Size& size, std::vector<size_t> configured) {
    cluster_.emplace(folder_.Path("nodes"), size);
    RedisTarget target{.servers = {}, .timeout = absl::Seconds(10), .patience = kLong};
    for (const size_t index : configured) target.servers.push_back(cluster_->address(index));
    run_.emplace(target);
  }

  // A key whose slot the node has.
  std::string KeyAt(size_t node) const {
    for (int i = 0;; ++i) {
      const std::string key = "levee:" + std::to_string(i);
      if (cluster_->OwnerOf(SlotOf(key)) == node) return key;
    }
  }

  // Sets a key as soon as the node of its slot takes it: the nodes of a cluster agree on who is
  // away, and who stands in, only after a while, and answer with errors until then.
  void UntilSet(const std::string& key, const std::string& value) {
    while (true) {
      const auto reply = run_->Ask({"SET", key, value});
      if (reply.ok() && reply->text == "OK") return;
    }
  }

  const TemporaryFolder folder_;
  std::optional<RedisCluster> cluster_;
  std::optional<ClientRun> run_;
};

// Keeps INCR under way for each key, and counts the answers.
class Load {
 public:
  Load(ClientRun& run, std::vector<std::string> keys) : run_(run), keys_(std::move(keys)) {
    for (const std::string& key : keys_) Send(key);
  }

  int answers() const { return answers_; }
  int errors() const { return errors_; }
  const std::string& error() const { return error_; }
  const std::map<std::string, int64_t>& values() const { return values_; }

  // No more from now on. Returns once all have been answered.
  void End() {
    ending_ = true;
    run_.Until([this] { return under_way_ == 0; });
  }

 private:
  void Send(const std::string& key) {
    ++under_way_;
    run_.Send({"INCR", key}, [this, key](const absl::StatusOr<RedisReply>& reply) {
      --under_way_;
      ++answers_;
      const bool good = reply.ok() && reply->kind == RedisReply::Kind::kInteger;
      if (good) {
        EXPECT_EQ(reply->integer, ++values_[key]) << "a command was lost, or ran twice";
      } else {
        ++errors_;
        error_ = reply.ok() ? reply->text : reply.status().ToString();
      }
      // An error at once must not end in a loop.
      if (good && !ending_) Send(key);
    });
  }

  ClientRun& run_;
  const std::vector<std::string> keys_;
  std::map<std::string, int64_t> values_;
  int under_way_ = 0;
  int answers_ = 0;
  int errors_ = 0;
  std::string error_;
  bool ending_ = false;
};

TEST_F(RedisClusterTest, EachKeyGoesToItsNodeAndEachScriptToThatOfItsKey) {
  Start({}, {0, 1});
  run_->UntilConnected();
  const RedisScript script("redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])");
  for (int i = 0; i < 100; ++i) {
    const std::string key = "levee:rate:p/l:" + std::to_string(i);
    EXPECT_EQ(run_->Run(script, key, {std::to_string(i)})->text, std::to_string(i));
    EXPECT_EQ(cluster_->node(cluster_->OwnerOf(SlotOf(key))).Command({"GET", key}),
              std::to_string(i) + "\n");
  }
  // No command went to a wrong node, since the map is known.
  for (size_t node = 0; node < 3; ++node) {
    EXPECT_THAT(cluster_->node(node).Command({"INFO", "errorstats"}),
                testing::Not(testing::HasSubstr("MOVED")));
  }
}

TEST_F(RedisClusterTest, OneNodeIsEnoughToFindTheOthers) {
  Start({}, {1});
  run_->UntilConnected();
  for (size_t node = 0; node < 3; ++node) {
    EXPECT_EQ(run_->Ask({"SET", KeyAt(node), "v"})->text, "OK");
  }
  run_->UntilConnected();
}

TEST_F(RedisClusterTest, WhileASlotMovesNoCommandIsLostAndNoneRunsTwice) {
  Start({.empty = 1}, {0, 1, 2});
  run_->UntilConnected();
  std::vector<std::string> keys;  // of one slot
  for (int i = 0; i < 20; ++i) keys.push_back("{tag}" + std::to_string(i));
  const uint16_t slot = SlotOf("tag");
  const size_t from = cluster_->OwnerOf(slot);
  const size_t to = 3;  // It has no slot so far, so no map names it.
  Load load(*run_, keys);
  const auto go_on = [&] {
    const int seen = load.answers();
    run_->Until([&] { return load.errors() > 0 || load.answers() > seen + 200; });
  };
  go_on();
  cluster_->BeginToMove(slot, from, to);
  go_on();
  for (const std::string& key : keys) {
    cluster_->MoveKey(key, from, to);
    go_on();
  }
  cluster_->EndMove(slot, to);
  go_on();
  load.End();
  EXPECT_EQ(load.errors(), 0) << load.error();
  for (const std::string& key : keys) {
    EXPECT_EQ(cluster_->node(to).Command({"GET", key}),
              std::to_string(load.values().at(key)) + "\n");
  }
  EXPECT_THAT(cluster_->node(from).Command({"INFO", "errorstats"}), testing::HasSubstr("ASK"));
}

TEST_F(RedisClusterTest, AScriptFollowsItsKeyToANodeThatDoesNotKnowIt) {
  Start({}, {0, 1, 2});
  run_->UntilConnected();
  const RedisScript script("return redis.call('INCR', KEYS[1])");
  const uint16_t slot = SlotOf("k");
  const size_t from = cluster_->OwnerOf(slot);
  const size_t to = (from + 1) % 3;
  EXPECT_EQ(run_->Run(script, "k", {})->integer, 1);
  cluster_->BeginToMove(slot, from, to);
  cluster_->MoveKey("k", from, to);
  EXPECT_EQ(run_->Run(script, "k", {})->integer, 2);  // ASK
  cluster_->EndMove(slot, to);
  EXPECT_EQ(run_->Run(script, "k", {})->integer, 3);  // MOVED
}

TEST_F(RedisClusterTest, ANodeThatIsKilledTakesOnlyItsOwnKeysAlong) {
  Start({}, {0, 1, 2});
  run_->UntilConnected();
  cluster_->Kill(1);
  run_->UntilConnected(false);
  EXPECT_THAT(run_->reason, testing::StartsWith(cluster_->address(1).Text() + ": "));
  const auto lost = run_->Ask({"SET", KeyAt(1), "v"});
  EXPECT_TRUE(absl::IsFailedPrecondition(lost.status()) || lost->IsError("CLUSTERDOWN"));
  for (const size_t node : {0, 2}) UntilSet(KeyAt(node), "v");
  cluster_->node(1).Restart();
  run_->UntilConnected();
  UntilSet(KeyAt(1), "v");
}

TEST_F(RedisClusterTest, AReplicaThatStandsInForItsPrimaryIsFound) {
  Start({.replicas = 1}, {0, 1, 2});
  run_->UntilConnected();
  const std::string key = KeyAt(0);
  ASSERT_EQ(run_->Ask({"SET", key, "v"})->text, "OK");
  cluster_->Kill(0);
  run_->UntilConnected(false);
  run_->UntilConnected();
  UntilSet(key, "w");
  EXPECT_EQ(cluster_->node(3).Command({"GET", key}), "w\n");
}

TEST_F(RedisClusterTest, ServersThatAreNoClusterAreToldAsSuch) {
  const RedisProcess one, two;
  ClientRun run({.servers = {{"127.0.0.1", one.port()}, {"127.0.0.1", two.port()}}});
  run.Until([&] { return run.reason.ends_with("cluster support disabled"); });
  EXPECT_FALSE(run.client->connected());
  EXPECT_TRUE(absl::IsFailedPrecondition(run.Ask({"SET", "k", "v"}).status()));
}

}  // namespace
}  // namespace levee
