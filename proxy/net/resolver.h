// Names to addresses, by c-ares on the event loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/intrusive_list.h"
#include "base/timer_wheel.h"
#include "net/address.h"
#include "net/event_loop.h"

struct ares_addrinfo;
struct ares_channeldata;

namespace levee::net {

// Looks names up as the system is set up to: /etc/hosts, then the servers and search domains of
// resolv.conf, both read anew for every look-up, so that changes of them are noticed. Outlives its
// queries. One thread.
class Resolver {
 public:
  class Query;

  struct Found {
    std::vector<Address> addresses;  // at least one
    // The least of all records; zero if a file said it, infinite if `host` was an IP literal.
    absl::Duration ttl;
  };
  using Answer = std::function<void(absl::StatusOr<Found>)>;

  // `wheel`: of the same loop. `servers`: "127.0.0.1:5353,...", in place of those that resolv.conf
  // names.
  Resolver(EventLoop& loop, TimerWheel& wheel, std::string servers = "");
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // `host`: an IP literal or a name. `answer` is called once, in a later turn or at this one's end:
  // with A and AAAA records together, without those of a family that this machine has no route for,
  // or with an error that names the host. It comes within 5 s, whatever the servers do; of names
  // under "localhost" it is loopback, whatever they say (RFC 6761, section 6.3).
  std::unique_ptr<Query> Resolve(const std::string& host, uint16_t port, Answer answer);

 private:
  void StartWaiting();

  EventLoop& loop_;
  TimerWheel& wheel_;
  const std::string servers_;
  int running_ = 0;
  IntrusiveList<Query> waiting_;  // for others to end
};

// A look-up; destroying it (which `answer` may do) means that `answer` is not called any more.
class Resolver::Query final : private Timer, public ListLink<Resolver::Query> {
 public:
  ~Query() override;
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

 private:
  friend class Resolver;
  struct Socket;

  Query(Resolver& resolver, const std::string& host, uint16_t port, Answer answer);

  void Start();
  bool OpenChannel();
  void Fail(int error);
  void OnTimer(Instant now) override;
  void OnSocket(int fd, bool read, bool write);
  void OnReady(int read_fd, int write_fd);
  void OnFound(int error, const ares_addrinfo* found);
  void Continue();
  void Finish();
  void Stop();

  Resolver& resolver_;
  const std::string host_;
  const uint16_t port_;
  Answer answer_;
  bool running_ = false;
  ares_channeldata* channel_ = nullptr;  // one per query, so that it can be given up by itself
  std::vector<std::unique_ptr<Socket>> sockets_;
  std::optional<absl::StatusOr<Found>> result_;  // known, not told yet
  Instant deadline_;
};

}  // namespace levee::net
