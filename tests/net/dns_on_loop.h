// SPDX-License-Identifier: Apache-2.0
// A DNS server on a test's own loop, whose answers the test writes.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "net/dns_script.h"
#include "net/event_loop.h"

namespace levee {

// Serves over UDP on loopback, as often as the loop runs. One thread.
class DnsOnLoop final : private net::ReadyHandler {
 public:
  explicit DnsOnLoop(net::EventLoop& loop)
      : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
        watch_(std::in_place, loop, fd_, static_cast<net::ReadyHandler&>(*this)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    LEVEE_CHECK(bind(fd_, reinterpret_cast<const sockaddr*>(&at), size) == 0);
    LEVEE_CHECK(getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port_ = ntohs(at.sin_port);
    watch_->Set(true, false);
  }
  ~DnsOnLoop() {
    watch_.reset();
    close(fd_);
  }
  DnsOnLoop(const DnsOnLoop&) = delete;
  DnsOnLoop& operator=(const DnsOnLoop&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // As of a DnsScript.
  void Set(const std::string& name, const DnsScript::Answer& answer) { script_.Set(name, answer); }
  int Asked(const std::string& name) const { return script_.Asked(name); }

 private:
  void OnReady(bool, bool) override {
    std::array<char, 512> bytes;
    sockaddr_in from{};
    socklen_t size = sizeof from;
    auto* const address = reinterpret_cast<sockaddr*>(&from);
    for (;;) {
      const ssize_t got = recvfrom(fd_, bytes.data(), bytes.size(), 0, address, &size);
      if (got < 0) return;
      const std::string reply = script_.Reply({bytes.data(), static_cast<size_t>(got)});
      if (!reply.empty()) sendto(fd_, reply.data(), reply.size(), 0, address, size);
    }
  }

  const int fd_;
  uint16_t port_ = 0;
  DnsScript script_;
  std::optional<net::EventLoop::Watch> watch_;
};

}  // namespace levee
