// SPDX-License-Identifier: Apache-2.0
#include "key_ledger/redis_trouble.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "gtest/gtest.h"

namespace levee::ledger {
namespace {

constexpr uint64_t kTroubles = 12;

// Calls that end while a server is stopped, and while a replica has lost touch.
constexpr uint64_t kCallsStopped = 500;
constexpr uint64_t kCallsBehind = 500;

constexpr std::chrono::seconds kTroublePatience{300};

// The number behind a name in what INFO prints; -1 if it is not there.
int64_t InfoOf(const RedisProcess& redis, const std::string& name) {
  const std::string info = redis.Command({"INFO", "replication"});
  const size_t at = info.find("\n" + name + ":");
  return at == info.npos ? -1 : std::atoll(info.c_str() + at + name.size() + 2);
}

std::unique_ptr<RedisProcess> Start(const std::string& folder) {
  std::filesystem::create_directories(folder);
  // A replica of many keys is copied for long, and must not be given up meanwhile.
  return std::make_unique<RedisProcess>(std::vector<std::string>{
      "--dir", folder, "--appendonly", "yes", "--appendfsync", "no", "--repl-diskless-sync-delay",
      "0", "--client-output-buffer-limit", "replica", "0", "0", "0"});
}

// Nobody reads what it would say.
void Hush(const RedisProcess& redis) { redis.Command({"CONFIG", "SET", "loglevel", "warning"}); }

}  // namespace

RedisTrouble::RedisTrouble(RedisRelay& relay, KeyBook& book, const std::string& folder)
    : relay_(relay),
      book_(book),
      folders_{folder + "/a", folder + "/b"},
      servers_{Start(folders_[0]), Start(folders_[1])} {
  for (const auto& server : servers_) Hush(*server);
  Follow();
  relay_.SetTarget(primary().port());
}

bool RedisTrouble::Await(const std::function<bool()>& condition) const {
  const auto until = Clock::now() + kTroublePatience;
  while (!condition()) {
    if (Clock::now() > until || book_.finished()) return false;
  }
  return true;
}

void RedisTrouble::Follow() {
  replica().Command({"REPLICAOF", "127.0.0.1", std::to_string(primary().port())});
  // A million keys take their time. Redis waits for a second each time, and says how many follow.
  const bool follows = Await([this] { return primary().Command({"WAIT", "1", "1000"}) == "1\n"; });
  EXPECT_TRUE(follows || book_.finished()) << "the replica does not follow";
}

void RedisTrouble::Kill() {
  primary().Kill();
  primary().Restart();
  Hush(primary());
  ++kills_;
}

void RedisTrouble::Stop() {
  primary().Signal(SIGSTOP);
  book_.Await(book_.ended() + kCallsStopped);
  primary().Signal(SIGCONT);
  ++stops_;
}

// The replica has all that was written before `begin`, misses what comes then, and takes over.
void RedisTrouble::FailOver() {
  Follow();
  book_.BeginFailover();
  const int64_t written = InfoOf(primary(), "master_repl_offset");
  if (!Await([&] { return InfoOf(replica(), "slave_repl_offset") >= written; })) return;
  replica().Command({"REPLICAOF", "NO", "ONE"});
  book_.Await(book_.ended() + kCallsBehind);
  primary().Kill();
  primary_ = 1 - primary_;
  relay_.SetTarget(primary().port());
  book_.EndFailover();
  // All that it has will be the new primary's. To read a million keys before that takes long.
  std::filesystem::remove_all(folders_[1 - primary_] + "/appendonlydir");
  replica().Restart();
  Hush(replica());
  Follow();
  ++failovers_;
}

void RedisTrouble::Run(uint64_t calls) {
  for (uint64_t i = 1; i <= kTroubles; ++i) {
    book_.Await(calls * i / (kTroubles + 1));
    if (book_.finished()) return;
    switch (i % 3) {
      case 0:
        FailOver();
        break;
      case 1:
        Kill();
        break;
      default:
        Stop();
    }
  }
}

}  // namespace levee::ledger
