// SPDX-License-Identifier: Apache-2.0
// A DNS server on loopback whose answers a test writes, in a thread of its own.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "net/dns_script.h"

namespace levee {

// Serves over UDP. Thread-safe.
class ScriptedDns {
 public:
  static constexpr uint16_t kA = DnsScript::kA;
  static constexpr uint16_t kAaaa = DnsScript::kAaaa;
  static constexpr uint8_t kServerFailure = DnsScript::kServerFailure;
  using Answer = DnsScript::Answer;

  // `port`: 0: the system's choice.
  explicit ScriptedDns(const char* host = "127.0.0.1", uint16_t port = 0)
      : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), stop_(eventfd(0, EFD_CLOEXEC)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    inet_pton(AF_INET, host, &at.sin_addr);
    at.sin_port = htons(port);
    socklen_t size = sizeof at;
    bound_ = bind(fd_, reinterpret_cast<const sockaddr*>(&at), size) == 0;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~ScriptedDns() {
    eventfd_write(stop_, 1);
    thread_.join();
    close(fd_);
    close(stop_);
  }
  ScriptedDns(const ScriptedDns&) = delete;
  ScriptedDns& operator=(const ScriptedDns&) = delete;

  // False: this user may not listen on that port.
  bool bound() const { return bound_; }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // As of a DnsScript.
  void Set(const std::string& name, const Answer& answer) {
    const std::lock_guard lock(mutex_);
    script_.Set(name, answer);
  }
  int Asked(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    return script_.Asked(name);
  }

  // Waits until they have been asked for `times` times; false after `patience`.
  bool WaitUntilAsked(const std::string& name, int times, std::chrono::seconds patience) const {
    std::unique_lock lock(mutex_);
    return happened_.wait_for(lock, patience, [&] { return script_.Asked(name) >= times; });
  }

 private:
  void Serve() {
    for (;;) {
      std::array<pollfd, 2> wait = {pollfd{fd_, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
      poll(wait.data(), wait.size(), -1);
      if (wait[1].revents != 0) return;
      std::array<char, 512> bytes;
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t got =
          recvfrom(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 0) continue;
      const std::string reply = Reply({bytes.data(), static_cast<size_t>(got)});
      if (reply.empty()) continue;
      sendto(fd_, reply.data(), reply.size(), 0, reinterpret_cast<const sockaddr*>(&from), size);
    }
  }

  std::string Reply(std::string_view query) {
    const std::lock_guard lock(mutex_);
    happened_.notify_all();
    return script_.Reply(query);
  }

  const int fd_;
  const int stop_;
  uint16_t port_ = 0;
  bool bound_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable happened_;
  DnsScript script_;
  std::thread thread_;
};

}  // namespace levee
