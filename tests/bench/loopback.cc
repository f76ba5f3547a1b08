// SPDX-License-Identifier: Apache-2.0
#include "bench/loopback.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace levee::bench {
namespace {

// The device that packets to 127.0.0.0/8 take, and none from outside.
constexpr char kLoopbackDevice[] = "lo";

sockaddr_in Address(in_addr_t ip, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(ip);
  address.sin_port = htons(port);
  return address;
}

void DisableNagle(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

epoll_event EventFor(void* owner, Interest interest) {
  epoll_event event{};
  event.events = (interest.read ? EPOLLIN : 0U) | (interest.write ? EPOLLOUT : 0U);
  event.data.ptr = owner;
  return event;
}

[[noreturn]] void ExitWithReason(const char* what) {
  std::perror(what);
  std::exit(1);
}

}  // namespace

uint16_t ParsePort(const char* text, const char* usage) {
  const char* end = text + std::strlen(text);
  uint16_t port = 0;
  const auto [parsed, error] = std::from_chars(text, end, port);
  if (error != std::errc() || parsed != end || port == 0) {
    std::fprintf(stderr, "usage: %s\n", usage);
    std::exit(2);
  }
  return port;
}

int ListenOnLoopback(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = Address(INADDR_ANY, port);
  if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, kLoopbackDevice, sizeof kLoopbackDevice) != 0 ||
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd, SOMAXCONN) != 0) {
    ExitWithReason("listening on 127.0.0.0/8");
  }
  return fd;
}

int Accept(int listener) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) DisableNagle(fd);
  return fd;
}

int ConnectToLoopback(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Address(INADDR_LOOPBACK, port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(fd);
    return -1;
  }
  DisableNagle(fd);
  return fd;
}

Poller::Poller() : fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (fd_ < 0) ExitWithReason("epoll_create1");
}

Poller::~Poller() { close(fd_); }

void Poller::Add(int fd, void* owner, Interest interest) {
  epoll_event event = EventFor(owner, interest);
  if (epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) != 0) ExitWithReason("epoll_ctl");
}

void Poller::Change(int fd, void* owner, Interest interest) {
  epoll_event event = EventFor(owner, interest);
  if (epoll_ctl(fd_, EPOLL_CTL_MOD, fd, &event) != 0) ExitWithReason("epoll_ctl");
}

std::span<const epoll_event> Poller::Wait(std::optional<std::chrono::nanoseconds> longest) {
  const std::chrono::nanoseconds left = longest.value_or(std::chrono::nanoseconds::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec timeout{seconds.count(), (left - seconds).count()};
  const int count = epoll_pwait2(fd_, events_.data(), static_cast<int>(events_.size()),
                                 longest ? &timeout : nullptr, nullptr);
  if (count < 0 && errno != EINTR) ExitWithReason("epoll_pwait2");
  return {events_.data(), static_cast<size_t>(count < 0 ? 0 : count)};
}

}  // namespace levee::bench
