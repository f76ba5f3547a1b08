// SPDX-License-Identifier: Apache-2.0
#include "store/sentinel_group.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "net/closed_port.h"
#include "store/redis_programs.h"

namespace levee {

SentinelGroup::SentinelGroup(const std::string& folder, More more) : more_(std::move(more)) {
  std::filesystem::create_directories(folder);
  for (auto& server : servers_) {
    std::vector<std::string> arguments = {"--dir", folder, "--repl-diskless-sync-delay", "0"};
    arguments.insert(arguments.end(), more_.redis.begin(), more_.redis.end());
    if (tls()) {
      arguments.insert(arguments.end(), more_.tls.begin(), more_.tls.end());
      arguments.insert(arguments.end(), {"--tls-port", RedisProcess::kTlsPort});
    }
    server = std::make_unique<RedisProcess>(arguments);
  }
  // A sentinel looks for replicas when it starts, and then only now and then.
  Command(replica(), {"REPLICAOF", "127.0.0.1", std::to_string(PortOf(primary()))});
  while (!absl::StrContains(Command(primary(), {"INFO", "replication"}), "state=online")) {
  }
  for (size_t i = 0; i < sentinels_.size(); ++i) {
    StartSentinel(sentinels_[i], folder + "/sentinel-" + std::to_string(i) + ".conf");
  }
  for (const Sentinel& sentinel : sentinels_) {
    while (!absl::StrContains(AskSentinel(sentinel, {"SENTINEL", "CKQUORUM", kMaster}),
                              "OK 3 usable") ||
           !absl::StrContains(AskSentinel(sentinel, {"SENTINEL", "REPLICAS", kMaster}),
                              std::to_string(PortOf(replica())))) {
    }
  }
}

void SentinelGroup::StartSentinel(Sentinel& sentinel, const std::string& file) {
  sentinel.port = ClosedPort().port();
  sentinel.tls_port = ClosedPort().port();
  const std::string master = kMaster;
  std::ofstream(file) << "port " << sentinel.port << "\nbind 127.0.0.1\n"
                      << "sentinel monitor " << master << " 127.0.0.1 " << PortOf(primary())
                      << " 2\n"
                      << "sentinel down-after-milliseconds " << master << " 600000\n"
                      << "sentinel failover-timeout " << master << " 3000\n"
                      << more_.sentinels;
  std::vector<std::string> arguments = {file, "--sentinel"};
  if (tls()) {
    arguments.insert(arguments.end(), more_.tls.begin(), more_.tls.end());
    arguments.insert(arguments.end(), {"--tls-port", std::to_string(sentinel.tls_port)});
  }
  sentinel.child = std::make_unique<Child>(kRedisServer, arguments);
  while (const auto line = sentinel.child->ReadLine()) {
    if (absl::StrContains(*line, "+monitor")) {
      Hurry(sentinel);
      return;
    }
  }
  ADD_FAILURE() << "a sentinel does not start: " << sentinel.child->Errors();
}

// A sentinel looks for replicas, other sentinels and changed roles every 2 s to 10 s, and rests for
// 30 s where its process has stood still, as it does on a busy machine. Here it looks more often
// and never rests.
void SentinelGroup::Hurry(const Sentinel& sentinel) const {
  const std::string done = AskSentinel(
      sentinel, {"SENTINEL", "DEBUG", "info-period", "1000", "ping-period", "200", "publish-period",
                 "200", "ask-period", "200", "tilt-trigger", "600000"});
  EXPECT_EQ(done, "OK\n");
}

std::vector<ServerAddress> SentinelGroup::sentinels() const {
  std::vector<ServerAddress> addresses;
  for (const Sentinel& sentinel : sentinels_) {
    addresses.push_back({"127.0.0.1", tls() ? sentinel.tls_port : sentinel.port});
  }
  return addresses;
}

std::string SentinelGroup::Command(const RedisProcess& at, std::vector<std::string> words) const {
  words.insert(words.begin(), more_.redis_cli.begin(), more_.redis_cli.end());
  return at.Command(words);
}

std::string SentinelGroup::AskSentinel(const Sentinel& sentinel,
                                       const std::vector<std::string>& words) const {
  std::vector<std::string> arguments = {"-p", std::to_string(sentinel.port)};
  arguments.insert(arguments.end(), more_.sentinel_cli.begin(), more_.sentinel_cli.end());
  arguments.insert(arguments.end(), words.begin(), words.end());
  return RunToEnd(kRedisClient, arguments).output;
}

void SentinelGroup::AwaitPromotion() {
  while (!absl::StrContains(Command(replica(), {"ROLE"}), "master")) {
  }
  primary_ = 1 - primary_;
}

// Only now may a server that is silent be taken for dead: one on a busy machine is silent at times.
void SentinelGroup::KillPrimary() {
  primary().Kill();
  for (const Sentinel& sentinel : sentinels_) {
    AskSentinel(sentinel, {"SENTINEL", "SET", kMaster, "down-after-milliseconds", "500"});
  }
  AwaitPromotion();
}

void SentinelGroup::ChangePlaces() {
  while (AskSentinel(sentinels_[0], {"SENTINEL", "FAILOVER", kMaster}) != "OK\n") {
  }
  AwaitPromotion();
}

void SentinelGroup::KillSentinel(size_t index) {
  sentinels_[index].child->Signal(SIGKILL);
  sentinels_[index].child->WaitForExit();
}

}  // namespace levee
