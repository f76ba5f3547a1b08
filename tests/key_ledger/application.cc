// SPDX-License-Identifier: Apache-2.0
#include "key_ledger/application.h"

#include <sys/socket.h>
#include <unistd.h>

#include "key_ledger/application_link.h"
#include "key_ledger/listen.h"

namespace levee::ledger {

Application::Application(Loop& loop, const KeyPlan& plan, KeyBook& book)
    : loop_(loop), plan_(plan), book_(book) {
  const Listening listening = ListenAnywhere();
  listener_ = listening.fd;
  port_ = listening.port;
  loop_.Watch(listener_, *this, EPOLLIN);
}

Application::~Application() {
  Drop();
  close(listener_);
}

void Application::Drop() {
  while (!links_.empty()) (*links_.begin())->Close(Link::Manner::kReset);
}

void Application::OnReady(uint32_t) {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    links_.insert(std::make_shared<ApplicationLink>(*this, fd));
  }
}

}  // namespace levee::ledger
