// SPDX-License-Identifier: Apache-2.0
#include "store/redis_cluster.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "store/key_slot.h"

namespace levee {

RedisCluster::RedisCluster(const std::string& folder, const Size& size, const More& more)
    : size_(size), tls_(more != nullptr) {
  const size_t count = size.primaries + size.replicas + size.empty;
  for (size_t i = 0; i < count; ++i) {
    const std::string own = folder + "/node-" + std::to_string(i);
    std::filesystem::remove_all(own);  // of a run that did not end
    std::filesystem::create_directories(own);
    std::vector<std::string> arguments = {"--dir",
                                          own,
                                          "--cluster-enabled",
                                          "yes",
                                          "--cluster-port",
                                          RedisProcess::kOtherPort,
                                          "--cluster-node-timeout",
                                          "1000",
                                          "--cluster-require-full-coverage",
                                          "no",
                                          "--repl-diskless-sync-delay",
                                          "0"};
    if (more != nullptr) {
      for (std::string& argument : more(i)) arguments.push_back(std::move(argument));
    }
    nodes_.push_back(std::make_unique<RedisProcess>(std::move(arguments)));
  }
  Meet();
  for (size_t i = 0; i < size.primaries; ++i) {
    EXPECT_EQ(
        Command(i, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(i * kClusterSlots / size.primaries),
                    std::to_string((i + 1) * kClusterSlots / size.primaries - 1)}),
        "OK\n");
  }
  for (size_t i = 0; i < count; ++i) AwaitOk(i);
  for (size_t i = 0; i < size.replicas; ++i) {
    const size_t replica = size.primaries + i;
    while (Command(replica, {"CLUSTER", "REPLICATE", IdOf(i)}) != "OK\n") {
    }
    while (!absl::StrContains(Command(i, {"INFO", "replication"}), "state=online")) {
    }
  }
  // Nodes that talk often know each other soon. From now on one that is silent is not dead: on a
  // busy machine it is silent at times.
  for (size_t i = 0; i < count; ++i) SetTimeout(i, "600000");
}

void RedisCluster::SetTimeout(size_t index, const std::string& milliseconds) const {
  EXPECT_EQ(Command(index, {"CONFIG", "SET", "cluster-node-timeout", milliseconds}), "OK\n");
}

void RedisCluster::Kill(size_t index) const {
  node(index).Kill();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (i != index) SetTimeout(i, "1000");
  }
}

void RedisCluster::Meet() const {
  for (size_t i = 1; i < nodes_.size(); ++i) {
    Command(0, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(PortOf(i)),
                std::to_string(nodes_[i]->other_port())});
  }
  const std::string known = "cluster_known_nodes:" + std::to_string(nodes_.size()) + "\r";
  for (size_t i = 0; i < nodes_.size(); ++i) {
    while (!absl::StrContains(Command(i, {"CLUSTER", "INFO"}), known)) {
    }
  }
}

void RedisCluster::AwaitOk(size_t index) const {
  for (;;) {
    const std::string info = Command(index, {"CLUSTER", "INFO"});
    if (absl::StrContains(info, "cluster_state:ok") &&
        absl::StrContains(info, "cluster_slots_assigned:" + std::to_string(kClusterSlots))) {
      return;
    }
  }
}

std::string RedisCluster::Command(size_t index, const std::vector<std::string>& words) const {
  return nodes_[index]->Command(words);
}

std::string RedisCluster::IdOf(size_t index) const {
  return std::string(absl::StripSuffix(Command(index, {"CLUSTER", "MYID"}), "\n"));
}

size_t RedisCluster::OwnerOf(uint16_t slot) const {
  size_t owner = 0;
  while ((owner + 1) * kClusterSlots / size_.primaries <= slot) ++owner;
  return owner;
}

void RedisCluster::BeginToMove(uint16_t slot, size_t from, size_t to) const {
  const std::string number = std::to_string(slot);
  EXPECT_EQ(Command(to, {"CLUSTER", "SETSLOT", number, "IMPORTING", IdOf(from)}), "OK\n");
  EXPECT_EQ(Command(from, {"CLUSTER", "SETSLOT", number, "MIGRATING", IdOf(to)}), "OK\n");
}

void RedisCluster::MoveKey(const std::string& key, size_t from, size_t to) const {
  const std::string moved =
      Command(from, {"MIGRATE", "127.0.0.1", std::to_string(PortOf(to)), key, "0", "5000"});
  EXPECT_TRUE(moved == "OK\n" || moved == "NOKEY\n") << moved;
}

void RedisCluster::EndMove(uint16_t slot, size_t to) const {
  const std::string id = IdOf(to);
  EXPECT_EQ(Command(to, {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id}), "OK\n");
  for (size_t i = 0; i < size_.primaries; ++i) {
    if (i == to) continue;
    EXPECT_EQ(Command(i, {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id}), "OK\n");
  }
}

}  // namespace levee
