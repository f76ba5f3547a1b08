// SPDX-License-Identifier: Apache-2.0
#include "net/resolver.h"

#include <ares.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace levee::net {
namespace {

// A look-up ends after this long, with the answers known by then.
constexpr absl::Duration kTimeout = absl::Seconds(5);

// A server has this long to answer, and twice as long in the second round. The 5 s that resolv.conf
// usually gives suit people who wait, not calls.
constexpr int kServerTimeoutMs = 1000;
constexpr int kRounds = 2;

bool IsLocalhost(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost");
}

// Whether the kernel knows a way to the address. Connecting a datagram socket sends nothing.
bool HasRoute(const Address& address) {
  const int fd = socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool found = connect(fd, address.get(), address.size()) == 0;
  close(fd);
  return found;
}

// On a machine without IPv6 the AAAA half of a name would be endpoints that never work (and the
// other way round). If no family has a route, all addresses stay, and connecting tells why.
void DropFamiliesWithoutRoute(std::vector<Address>& addresses) {
  std::vector<Address> reached;
  for (const int family : {AF_INET, AF_INET6}) {
    const auto of_family = [family](const Address& address) { return address.family() == family; };
    const auto first = std::find_if(addresses.begin(), addresses.end(), of_family);
    if (first == addresses.end() || !HasRoute(*first)) continue;
    std::copy_if(first, addresses.end(), std::back_inserter(reached), of_family);
  }
  if (!reached.empty()) addresses = std::move(reached);
}

// Returns the text, in lower case where it is a sentence, as it stands in the middle of ours.
std::string ErrorText(int error) {
  std::string text = ares_strerror(error);
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

}  // namespace

struct Resolver::Query::Socket final : ReadyHandler {
  Socket(Query& owner, EventLoop& loop, int descriptor)
      : query(owner), fd(descriptor), watch(std::in_place, loop, descriptor, *this) {}

  // May destroy this.
  void OnReady(bool readable, bool writable) override {
    query.OnReady(readable ? fd : ARES_SOCKET_BAD, writable ? fd : ARES_SOCKET_BAD);
  }

  Query& query;
  int fd;  // ARES_SOCKET_BAD: closed
  std::optional<EventLoop::Watch> watch;
};

Resolver::Resolver(EventLoop& loop, TimerWheel& wheel, std::string servers)
    : loop_(loop), wheel_(wheel), servers_(std::move(servers)) {
  static const int initialised = ares_library_init(ARES_LIB_INIT_ALL);
  LEVEE_CHECK(initialised == ARES_SUCCESS);
}

std::unique_ptr<Resolver::Query> Resolver::Resolve(const std::string& host, uint16_t port,
                                                   Asker asker, Answer answer, HostsFile hosts) {
  std::unique_ptr<Query> query(new Query(*this, host, port, asker, std::move(answer), hosts));
  queue_.Add(*query);
  StartWaiting();
  return query;
}

void Resolver::StartWaiting() {
  while (LookupQueue::Member* next = queue_.Next()) static_cast<Query*>(next)->Start();
}

Resolver::Query::Query(Resolver& resolver, const std::string& host, uint16_t port, Asker asker,
                       Answer answer, HostsFile hosts)
    : LookupQueue::Member(asker),
      resolver_(resolver),
      host_(host),
      port_(port),
      answer_(std::move(answer)),
      hosts_(hosts) {}

Resolver::Query::~Query() { Stop(); }

bool Resolver::Query::OpenChannel() {
  ares_options options{};
  int given = ARES_OPT_SOCK_STATE_CB | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES;
  options.sock_state_cb = [](void* query, ares_socket_t fd, int read, int write) {
    static_cast<Query*>(query)->OnSocket(fd, read != 0, write != 0);
  };
  options.sock_state_cb_data = this;
  options.timeout = kServerTimeoutMs;
  options.tries = kRounds;
  std::string bind = "b";
  if (hosts_ == HostsFile::kSkip) {
    options.lookups = bind.data();
    given |= ARES_OPT_LOOKUPS;
  }
  int error = ares_init_options(&channel_, &options, given);
  const std::string& servers = resolver_.servers_;
  if (error == ARES_SUCCESS && !servers.empty()) {
    error = ares_set_servers_ports_csv(channel_, servers.c_str());
  }
  if (error != ARES_SUCCESS) Fail(error);
  return error == ARES_SUCCESS;
}

void Resolver::Query::Start() {
  const Instant now = resolver_.loop_.now();
  deadline_ = now + kTimeout;
  if (const auto ip = Address::FromIp(host_, port_)) {
    result_ = Found{{*ip}, absl::InfiniteDuration()};
  } else if (IsLocalhost(host_)) {
    result_ = Found{{*Address::FromIp("127.0.0.1", port_), *Address::FromIp("::1", port_)},
                    absl::ZeroDuration()};
    DropFamiliesWithoutRoute((*result_)->addresses);
  } else if (OpenChannel()) {
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = ARES_AI_NOSORT;
    ares_getaddrinfo(
        channel_, host_.c_str(), nullptr, &hints,
        [](void* query, int error, int, ares_addrinfo* found) {
          static_cast<Query*>(query)->OnFound(error, found);
          ares_freeaddrinfo(found);
        },
        this);
  }
  // A result that is known at once (from a file) is reported by the timer, not from within Resolve.
  resolver_.wheel_.Arm(*this, now);
}

void Resolver::Query::Fail(int error) {
  result_ = absl::UnavailableError(absl::StrCat("cannot resolve ", host_, ": ", ErrorText(error)));
}

void Resolver::Query::OnFound(int error, const ares_addrinfo* found) {
  // c-ares reports its own end as well.
  if (error == ARES_EDESTRUCTION) return;
  if (error != ARES_SUCCESS || found->nodes == nullptr) {
    Fail(error == ARES_ECANCELLED ? ARES_ETIMEOUT : error == ARES_SUCCESS ? ARES_ENODATA : error);
    return;
  }
  int ttl = found->nodes->ai_ttl;
  Found result;
  for (const ares_addrinfo_node* node = found->nodes; node != nullptr; node = node->ai_next) {
    result.addresses.emplace_back(node->ai_addr, node->ai_addrlen).set_port(port_);
    ttl = std::min(ttl, node->ai_ttl);
  }
  for (const ares_addrinfo_cname* name = found->cnames; name != nullptr; name = name->next) {
    ttl = std::min(ttl, name->ttl);
  }
  DropFamiliesWithoutRoute(result.addresses);
  result.ttl = absl::Seconds(ttl);
  result_ = std::move(result);
}

void Resolver::Query::OnSocket(int fd, bool read, bool write) {
  const auto at = std::find_if(sockets_.begin(), sockets_.end(),
                               [fd](const auto& socket) { return socket->fd == fd; });
  if (read || write) {
    Socket& socket =
        at == sockets_.end()
            ? *sockets_.emplace_back(std::make_unique<Socket>(*this, resolver_.loop_, fd))
            : **at;
    socket.watch->Set(read, write);
  } else if (at != sockets_.end()) {
    // c-ares closes the descriptor after this. The object may be on the stack, so it stays.
    (*at)->watch.reset();
    (*at)->fd = ARES_SOCKET_BAD;
  }
}

void Resolver::Query::OnReady(int read_fd, int write_fd) {
  ares_process_fd(channel_, read_fd, write_fd);
  Continue();
}

void Resolver::Query::OnTimer(Instant now) {
  if (!result_.has_value() && now >= deadline_) {
    ares_cancel(channel_);  // One of the two answers may be there.
    if (!result_.has_value()) Fail(ARES_ETIMEOUT);
  } else if (!result_.has_value()) {
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  }
  Continue();
}

void Resolver::Query::Continue() {
  if (result_.has_value()) {
    Finish();
    return;
  }
  timeval span;
  Instant next = deadline_;
  if (ares_timeout(channel_, nullptr, &span) != nullptr) {
    next = std::min(next, resolver_.loop_.now() + absl::DurationFromTimeval(span));
  }
  resolver_.wheel_.Arm(*this, next);
}

void Resolver::Query::Finish() {
  const Answer answer = std::exchange(answer_, nullptr);
  absl::StatusOr<Found> result = *std::move(result_);
  Stop();
  answer(std::move(result));
}

void Resolver::Query::Stop() {
  Timer::Unlink();
  if (channel_ != nullptr) ares_destroy(std::exchange(channel_, nullptr));
  resolver_.queue_.End(*this);
  resolver_.StartWaiting();
}

}  // namespace levee::net
