// SPDX-License-Identifier: Apache-2.0
#include "ledger/upstream.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "ledger/upstream_link.h"

namespace levee::ledger {
namespace {

constexpr Millis kDowntime{30};

}  // namespace

Upstream::Upstream(Loop& loop, const Schedule& schedule, Book& book)
    : loop_(loop), schedule_(schedule), book_(book) {}

Upstream::~Upstream() { Drop(); }

void Upstream::Open() {
  if (listener_ >= 0) return;
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port_.port());
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_, SOMAXCONN) != 0) {
    std::perror("listening");
    std::exit(1);
  }
  loop_.Watch(listener_, *this, EPOLLIN);
}

void Upstream::OnReady(uint32_t) {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    links_.insert(std::make_shared<UpstreamLink>(*this, fd));
  }
}

void Upstream::StopListening() {
  if (listener_ < 0) return;
  loop_.Forget(listener_);
  close(std::exchange(listener_, -1));
}

void Upstream::Drop() {
  StopListening();
  while (!links_.empty()) (*links_.begin())->Close(Link::Manner::kReset);
}

void Upstream::Terminate() {
  StopListening();
  for (const auto& link : links_) link->GoAway();
}

void Upstream::Restart(bool orderly) {
  if (listener_ < 0) return;
  orderly ? Terminate() : Drop();
  loop_.After(kDowntime, [this] { Open(); });
}

}  // namespace levee::ledger
