// SPDX-License-Identifier: Apache-2.0
// A store that has not answered one renewal of a claim when the next one comes.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "dedupe/dedupe_table.h"
#include "gtest/gtest.h"
#include "log/event_log.h"
#include "net/event_loop.h"
#include "sidecar/shared_stores.h"
#include "store/redis_protocol.h"

namespace levee {
namespace {

// Answers a renewal when the next one comes, and all else at once. So one waits at any time.
class LateRedis {
 public:
  LateRedis() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    bind(listener_, reinterpret_cast<const sockaddr*>(&at), size);
    listen(listener_, 1);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~LateRedis() {
    hung_up_ = true;
    shutdown(listener_, SHUT_RDWR);
    if (const int connection = connection_; connection >= 0) shutdown(connection, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  LateRedis(const LateRedis&) = delete;
  LateRedis& operator=(const LateRedis&) = delete;

  uint16_t port() const { return port_; }

  void AwaitRenewals(int count) const {
    for (int seen = renewals_; seen < count; seen = renewals_) renewals_.wait(seen);
  }

 private:
  void Serve() {
    for (;;) {
      connection_ = accept(listener_, nullptr, nullptr);
      if (connection_ < 0 || hung_up_) break;
      Converse();
      close(connection_.exchange(-1));
    }
    if (connection_ >= 0) close(connection_);
  }

  void Converse() {
    std::array<uint8_t, 4096> buffer;
    RedisReader reader;
    scripts_ = 0;
    for (ssize_t size; (size = recv(connection_, buffer.data(), buffer.size(), 0)) > 0;) {
      reader.Feed(ByteSpan(buffer.data(), static_cast<size_t>(size)));
      for (auto next = reader.Next(); next.ok() && next->has_value(); next = reader.Next()) {
        Take(**next);
      }
    }
  }

  void Take(const RedisReply& command) {
    const bool script = command.list[0].text.starts_with("EVAL");
    if (!script) return Say(command.list[0].text == "PING" ? "+PONG\r\n" : "+OK\r\n");
    // The first one claims the key, the others renew that.
    const bool renews = ++scripts_ > 1;
    if (scripts_ != 2) Say(":1\r\n");
    if (!renews) return;
    ++renewals_;
    renewals_.notify_all();
  }

  void Say(const std::string& reply) const {
    send(connection_, reply.data(), reply.size(), MSG_NOSIGNAL);
  }

  const int listener_;
  uint16_t port_ = 0;
  std::atomic<int> connection_ = -1;
  std::atomic<bool> hung_up_ = false;
  std::atomic<int> renewals_ = 0;
  int scripts_ = 0;  // of this connection
  std::thread thread_;
};

// A call that gets the key and keeps it.
class LongCall final : private DedupeClient {
 public:
  explicit LongCall(DedupeTable& table) : table_(table), place_(*this, 0, table.KeyOf("k")) {
    Ask();
  }
  ~LongCall() { table_.End(place_, DedupeEnding::kReleased, nullptr, net::ReadClock()); }

  bool runs() const { return runs_; }

 private:
  void Ask() {
    runs_ = table_.Ask(place_, Sha256{}, net::ReadClock()).kind == DedupeTable::Step::Kind::kFirst;
  }
  void OnKey(Instant) override { runs_ = true; }
  void OnKeyUnknown(Instant) override { Ask(); }
  // The store has no connection yet.
  void OnKeyAnswer(const DedupeAnswer&, Instant) override { Ask(); }

  DedupeTable& table_;
  DedupePlace place_;
  bool runs_ = false;
};

TEST(SlowStore, DoesNotKeepASidecarFromEnding) {
  LateRedis redis;
  Metrics metrics{Metrics::Options()};
  EventLog log;
  StoreBoard board;
  SharedStores stores({metrics, log, board}, [] {});
  const auto table = std::make_shared<DedupeTable>(
      DedupePolicy{.store = "shared", .claim = absl::Seconds(1)}, 1, [](int) {},
      DedupeTable::Shared{.store = &stores.keys(), .name = "app\n", .seed = 1});
  stores.Configure({StoreSpec{.name = "shared",
                              .servers = {{"127.0.0.1", redis.port()}},
                              .prefix = "levee:",
                              .timeout = absl::Seconds(5)}},
                   {});
  LongCall call(*table);
  while (!call.runs()) table->Answer(0, net::ReadClock());
  redis.AwaitRenewals(2);
  stores.Stop();
}

}  // namespace
}  // namespace levee
