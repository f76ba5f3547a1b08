// SPDX-License-Identifier: Apache-2.0
#include "key_ledger/redis_relay.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "bench/loopback.h"
#include "key_ledger/listen.h"
#include "key_ledger/resp_frames.h"

namespace levee::ledger {
namespace {

// A connection and direction passes up to so many messages before one is cut.
constexpr uint64_t kMostMessages = 20'000;
constexpr size_t kWithin = 5;  // bytes of a message that is cut within

}  // namespace

// One connection, both ways.
class RedisRelay::Pair final : public std::enable_shared_from_this<Pair> {
 public:
  Pair(RedisRelay& relay, int client, int server)
      : relay_(relay), ways_{Way(*this, client, relay.Draw()), Way(*this, server, relay.Draw())} {
    for (Way& way : ways_) relay_.loop_.Watch(way.fd, way, EPOLLIN);
  }
  ~Pair() { Close(); }

 private:
  // What comes from one of the two sockets and goes to the other.
  struct Way final : Ready {
    Way(Pair& its_pair, int from, uint64_t passes) : pair(its_pair), fd(from), left(passes) {}
    void OnReady(uint32_t events) override { pair.OnReady(*this, events); }

    Pair& pair;
    int fd;
    RespFrames frames;
    uint64_t left;  // messages that pass before one is cut
    CutAt cut = CutAt::kBefore;
    size_t within = 0;  // bytes of the message that is cut
    std::string out;    // for `fd`, which has not taken it yet
  };

  size_t indexOf(const Way& way) const { return &way == &ways_[0] ? 0 : 1; }
  void OnReady(Way& way, uint32_t events);
  size_t Passes(Way& way, const char* bytes, size_t size);
  void Write(Way& to);
  void Close();

  RedisRelay& relay_;
  std::array<Way, 2> ways_;
  bool cuts_ = false;
};

// Returns how many bytes pass; if not all of them do, the connection is cut after these.
size_t RedisRelay::Pair::Passes(Way& way, const char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const bool is_cut = way.left == 0;
    if (is_cut && way.frames.at_start()) {
      way.cut = static_cast<CutAt>(relay_.random_.Below(kCuts));
      if (way.cut == CutAt::kBefore) return cuts_ = true, i;
    }
    const bool ends = way.frames.Add(bytes[i]);
    if (is_cut && way.cut == CutAt::kWithin && ++way.within == kWithin) {
      return cuts_ = true, i + 1;
    }
    if (!ends) continue;
    if (is_cut) return cuts_ = true, i + 1;
    --way.left;
  }
  return size;
}

void RedisRelay::Pair::OnReady(Way& way, uint32_t events) {
  const auto self = shared_from_this();
  if (way.fd < 0) return;
  if ((events & EPOLLOUT) != 0) Write(way);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
  static std::array<char, 64 * 1024> buffer;
  const ssize_t size = recv(way.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0) return Close();
  Way& to = ways_[1 - indexOf(way)];
  to.out.append(buffer.data(), Passes(way, buffer.data(), static_cast<size_t>(size)));
  Write(to);
  if (!cuts_ || way.fd < 0) return;
  ++relay_.cuts_[indexOf(way)][static_cast<size_t>(way.cut)];
  Close();
}

void RedisRelay::Pair::Write(Way& to) {
  const ssize_t sent = send(to.fd, to.out.data(), to.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN) return Close();
  if (sent > 0) to.out.erase(0, static_cast<size_t>(sent));
  relay_.loop_.Change(to.fd, to, to.out.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

void RedisRelay::Pair::Close() {
  if (ways_[0].fd < 0) return;
  for (Way& way : ways_) {
    relay_.loop_.Forget(way.fd);
    close(std::exchange(way.fd, -1));
  }
  // Events of this turn may still name it.
  relay_.loop_.After(Millis(0), [this, self = weak_from_this()] {
    if (const auto held = self.lock()) relay_.pairs_.erase(held);
  });
}

RedisRelay::RedisRelay(Loop& loop, uint64_t seed) : loop_(loop), random_(seed) {
  const Listening listening = ListenAnywhere();
  listener_ = listening.fd;
  port_ = listening.port;
  loop_.Watch(listener_, *this, EPOLLIN);
}

RedisRelay::~RedisRelay() { close(listener_); }

uint64_t RedisRelay::Draw() { return random_.Below(kMostMessages); }

void RedisRelay::OnReady(uint32_t) {
  for (;;) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = bench::ConnectToLoopback(target_);
    if (server < 0) {
      close(client);
      continue;
    }
    pairs_.insert(std::make_shared<Pair>(*this, client, server));
  }
}

}  // namespace levee::ledger
