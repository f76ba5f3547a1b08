// SPDX-License-Identifier: Apache-2.0
// A store that answers later than claims are renewed.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "dedupe/dedupe_table.h"
#include "gtest/gtest.h"
#include "integration/child.h"
#include "log/event_log.h"
#include "net/event_loop.h"
#include "sidecar/shared_stores.h"
#include "store/redis_protocol.h"

namespace levee {
namespace {

using Clock = std::chrono::steady_clock;

// A claim of a second is renewed every 400 ms, and a client gives up a connection after a second.
constexpr std::chrono::milliseconds kLate{600};

// Answers renewals late, and all else at once.
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
    HangUp();
    thread_.join();
    close(listener_);
  }
  LateRedis(const LateRedis&) = delete;
  LateRedis& operator=(const LateRedis&) = delete;

  uint16_t port() const { return port_; }

  void HangUp() {
    shutdown(listener_, SHUT_RDWR);
    if (const int connection = connection_; connection >= 0) shutdown(connection, SHUT_RDWR);
  }

  void AwaitRenewals(int count) const {
    for (int seen = renewals_; seen < count; seen = renewals_) renewals_.wait(seen);
  }

 private:
  void Serve() {
    connection_ = accept(listener_, nullptr, nullptr);
    std::array<uint8_t, 4096> buffer;
    RedisReader reader;
    for (;;) {
      pollfd ready{.fd = connection_, .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, UntilNextReply()) == 0) continue;
      const ssize_t size = recv(connection_, buffer.data(), buffer.size(), 0);
      if (size <= 0) break;
      reader.Feed(ByteSpan(buffer.data(), static_cast<size_t>(size)));
      for (auto next = reader.Next(); next.ok() && next->has_value(); next = reader.Next()) {
        Take(**next);
      }
    }
    close(connection_);
  }

  // Gives the replies that are due. Returns the milliseconds until the next one; -1: there is none.
  int UntilNextReply() {
    const auto now = Clock::now();
    for (; !due_.empty() && now >= due_.front(); due_.pop_front()) Say(":1\r\n");
    if (due_.empty()) return -1;
    return static_cast<int>(
        std::chrono::ceil<std::chrono::milliseconds>(due_.front() - now).count());
  }

  void Take(const RedisReply& command) {
    const bool renews = command.list[0].text.starts_with("EVAL");
    if (!renews) return Say(command.list[0].text == "PING" ? "+PONG\r\n" : "+OK\r\n");
    due_.push_back(Clock::now() + kLate);
    ++renewals_;
    renewals_.notify_all();
  }

  void Say(const std::string& reply) const {
    send(connection_, reply.data(), reply.size(), MSG_NOSIGNAL);
  }

  const int listener_;
  uint16_t port_ = 0;
  std::atomic<int> connection_ = -1;
  std::atomic<int> renewals_ = 0;
  std::deque<Clock::time_point> due_;  // of replies
  std::thread thread_;
};

// A call that gets the key and keeps it.
class LongCall final : private DedupeClient {
 public:
  explicit LongCall(DedupeTable& table) : table_(table), place_(*this, 0, "k") { Ask(); }
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
  std::future<void> stopped = std::async(std::launch::async, [&] { stores.Stop(); });
  const bool has_stopped = stopped.wait_for(kPatience) == std::future_status::ready;
  EXPECT_TRUE(has_stopped);
  if (!has_stopped) redis.HangUp();  // So that at least the test ends.
}

}  // namespace
}  // namespace levee
