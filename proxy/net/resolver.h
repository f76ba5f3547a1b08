// SPDX-License-Identifier: Apache-2.0
// Resolves names to addresses, by c-ares on the event loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timer_wheel.h"
#include "net/address.h"
#include "net/event_loop.h"
#include "net/lookup_queue.h"

struct ares_addrinfo;
struct ares_channeldata;

namespace levee::net {

// Whether a name in /etc/hosts has the addresses that stand there.
enum class HostsFile { kRead, kSkip };

// Looks names up as the system is configured to: /etc/hosts, then the servers and search domains of
// resolv.conf; or past the first. Both files are read for every look-up, so that changes are
// noticed. Must outlive its queries. One thread.
class Resolver {
 public:
  class Query;

  struct Found {
    std::vector<Address> addresses;  // at least one
    // The shortest of all records; zero if it is from a file, infinite if `host` was an IP literal.
    absl::Duration ttl;
  };
  using Answer = std::function<void(absl::StatusOr<Found>)>;

  // `wheel`: of the same loop. `servers`: "127.0.0.1:5353,...", used in place of those in
  // resolv.conf.
  Resolver(EventLoop& loop, TimerWheel& wheel, std::string servers = "");
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // `host`: an IP literal or a name. `answer` is called once, at the end of this turn or in a later
  // one. It gets the A and AAAA records together, without a family for which this machine has no
  // route, or an error that names the host. It is called within 5 s of the time when `asker` has
  // its turn, whatever the servers do. Names under "localhost" are loopback, whatever the servers
  // say (RFC 6761, section 6.3).
  std::unique_ptr<Query> Resolve(const std::string& host, uint16_t port, Asker asker, Answer answer,
                                 HostsFile hosts = HostsFile::kRead);

 private:
  void StartWaiting();

  EventLoop& loop_;
  TimerWheel& wheel_;
  const std::string servers_;
  LookupQueue queue_;
};

// A look-up; destroying it (which `answer` may do) means that `answer` is not called any more.
class Resolver::Query final : private Timer, private LookupQueue::Member {
 public:
  ~Query() override;
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Whether somebody waits for the answer, as at first. If not, others have their turns before.
  void SetWanted(bool wanted) { resolver_.queue_.SetWanted(*this, wanted); }

 private:
  friend class Resolver;
  struct Socket;

  Query(Resolver& resolver, const std::string& host, uint16_t port, Asker asker, Answer answer,
        HostsFile hosts);

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
  const HostsFile hosts_;
  ares_channeldata* channel_ = nullptr;  // one per query, so that it can be given up by itself
  std::vector<std::unique_ptr<Socket>> sockets_;
  std::optional<absl::StatusOr<Found>> result_;  // known, not told yet
  Instant deadline_;
};

}  // namespace levee::net
