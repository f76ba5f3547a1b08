// SPDX-License-Identifier: Apache-2.0
// A bare TCP relay, the least that a proxy outside the kernel can do: what it costs per call is the
// limit that no proxy beats without merging connections.
//
// usage: bench_relay LISTEN_PORT TARGET_PORT
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <list>
#include <vector>

#include "bench/loopback.h"

namespace levee::bench {
namespace {

constexpr char kUsage[] = "bench_relay LISTEN_PORT TARGET_PORT";
constexpr size_t kReadBytes = 256 * 1024;

struct Link;

// One socket of a link, with what its other end sent faster than it takes.
struct End {
  int fd;
  Link* link;
  End* other;
  Interest interest;
  std::vector<char> pending;
  size_t sent = 0;
};

// A caller's connection and the one made for it.
struct Link {
  Link(int caller_fd, int target_fd)
      : caller{caller_fd, this, &target}, target{target_fd, this, &caller} {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    close(caller.fd);
    close(target.fd);
  }

  End caller;
  End target;
  bool broken = false;
};

class Relay {
 public:
  Relay(uint16_t port, uint16_t target_port)
      : listener_(ListenOnLoopback(port)), target_port_(target_port) {
    poller_.Add(listener_, nullptr, Interest{});
  }

  void RunTurn();

 private:
  void AcceptAll();
  bool Forward(End& from);
  bool Flush(End& to);
  void Want(End& end, Interest interest);

  Poller poller_;
  int listener_;
  uint16_t target_port_;
  std::list<Link> links_;
  std::array<char, kReadBytes> buffer_;
};

void Relay::RunTurn() {
  bool any_broken = false;
  for (const epoll_event& event : poller_.Wait()) {
    if (event.data.ptr == nullptr) {
      AcceptAll();
      continue;
    }
    End& end = *static_cast<End*>(event.data.ptr);
    if (end.link->broken) continue;
    const bool readable = (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
    const bool writable = (event.events & EPOLLOUT) != 0;
    if ((writable && !Flush(end)) || (readable && end.interest.read && !Forward(end))) {
      end.link->broken = any_broken = true;
    }
  }
  // Not earlier: events of the same turn may still point into these links.
  if (any_broken) links_.remove_if([](const Link& link) { return link.broken; });
}

void Relay::AcceptAll() {
  for (int caller = Accept(listener_); caller >= 0; caller = Accept(listener_)) {
    const int target = ConnectToLoopback(target_port_);
    if (target < 0) {
      close(caller);
      continue;
    }
    Link& link = links_.emplace_back(caller, target);
    poller_.Add(caller, &link.caller, Interest{});
    poller_.Add(target, &link.target, Interest{});
  }
}

// Reads once and passes it on; what does not fit stops the reading. False at the end.
bool Relay::Forward(End& from) {
  const ssize_t read = recv(from.fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (read < 0) return errno == EAGAIN;
  if (read == 0) return false;
  End& to = *from.other;
  ssize_t written = send(to.fd, buffer_.data(), read, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (written < 0 && errno != EAGAIN) return false;
  if (written < 0) written = 0;
  if (written < read) {
    to.pending.assign(buffer_.data() + written, buffer_.data() + read);
    to.sent = 0;
    Want(to, {.read = to.interest.read, .write = true});
    Want(from, {.read = false, .write = from.interest.write});
  }
  return true;
}

// Writes what is pending and, when all of it left, lets the other end read again.
bool Relay::Flush(End& to) {
  const ssize_t written = send(to.fd, to.pending.data() + to.sent, to.pending.size() - to.sent,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
  if (written < 0) return errno == EAGAIN;
  to.sent += static_cast<size_t>(written);
  if (to.sent == to.pending.size()) {
    Want(to, {.read = to.interest.read, .write = false});
    Want(*to.other, {.read = true, .write = to.other->interest.write});
  }
  return true;
}

void Relay::Want(End& end, Interest interest) {
  if (end.interest == interest) return;
  end.interest = interest;
  poller_.Change(end.fd, &end, interest);
}

}  // namespace
}  // namespace levee::bench

int main(int argc, char** argv) {
  using namespace levee::bench;  // NOLINT(google-build-using-namespace)
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s\n", kUsage);
    return 2;
  }
  Relay relay(ParsePort(argv[1], kUsage), ParsePort(argv[2], kUsage));
  for (;;) relay.RunTurn();
}
