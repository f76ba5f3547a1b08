// SPDX-License-Identifier: Apache-2.0
#include "integration/tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "gtest/gtest.h"
#include "integration/child.h"

namespace levee {
namespace {

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// -1 if nobody listens there.
int TryConnect(const std::string& address) {
  const int port = std::atoi(address.substr(address.rfind(':') + 1).c_str());
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in to = Loopback(static_cast<uint16_t>(port));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return fd;
  close(fd);
  return -1;
}

int BoundSocket() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // Sockets that have this and do not listen share a port with one that does.
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in at = Loopback(0);
  EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  return fd;
}

uint16_t PortOf(int fd) {
  sockaddr_in at = {};
  socklen_t size = sizeof at;
  getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
  return ntohs(at.sin_port);
}

}  // namespace

bool IsListening(const std::string& address) {
  const int fd = TryConnect(address);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

int ConnectTo(const std::string& address) {
  const int fd = TryConnect(address);
  EXPECT_GE(fd, 0) << address;
  return fd;
}

TcpConnection::TcpConnection(const std::string& address) : TcpConnection(ConnectTo(address)) {}

TcpConnection::TcpConnection(int fd) : fd_(fd) {
  const timeval patience = {.tv_sec = kPatience.count(), .tv_usec = 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

TcpConnection::~TcpConnection() { close(fd_); }

bool TcpConnection::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::string TcpConnection::Read(size_t size) {
  std::string bytes(size, '\0');
  const ssize_t got = recv(fd_, bytes.data(), size, 0);
  bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return bytes;
}

void TcpConnection::ShutdownWrite() { shutdown(fd_, SHUT_WR); }

std::string TcpConnection::ReadAll() {
  std::string all;
  for (std::string some = Read(65536); !some.empty(); some = Read(65536)) all += some;
  return all;
}

void TcpConnection::Shutdown() { shutdown(fd_, SHUT_RDWR); }

void TcpConnection::Abort() {
  const linger reset = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  // The descriptor stays ours until the destructor: connecting to nowhere ends the connection.
  const sockaddr nowhere = {.sa_family = AF_UNSPEC, .sa_data = {}};
  connect(fd_, &nowhere, sizeof nowhere);
}

TcpListener::TcpListener() : fd_(BoundSocket()), port_(PortOf(fd_)) {
  EXPECT_EQ(listen(fd_, 128), 0);
}

TcpListener::~TcpListener() { close(fd_); }

std::string TcpListener::address() const { return "127.0.0.1:" + std::to_string(port_); }

int TcpListener::Accept() { return accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }

void TcpListener::Shutdown() { shutdown(fd_, SHUT_RDWR); }

ReservedPort::ReservedPort() : fd_(BoundSocket()), port_(PortOf(fd_)) {}

ReservedPort::~ReservedPort() { close(fd_); }

std::string ReservedPort::address() const { return "127.0.0.1:" + std::to_string(port_); }

bool OpenTunnel(TcpConnection& connection, const std::string& destination) {
  connection.Send("CONNECT " + destination + " HTTP/1.1\r\nHost: " + destination + "\r\n\r\n");
  const std::string expected = "HTTP/1.1 200 Connection established\r\n\r\n";
  std::string head;
  while (head.size() < expected.size()) {
    const std::string more = connection.Read(expected.size() - head.size());
    if (more.empty()) return false;
    head += more;
  }
  return head == expected;
}

HttpAnswer HttpAsk(const std::string& method, const std::string& address, const std::string& path) {
  TcpConnection connection(address);
  connection.Send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string bytes = connection.ReadAll();
  const size_t end = bytes.find("\r\n\r\n");
  if (!bytes.starts_with("HTTP/1.") || end == std::string::npos) return {};
  return {.status = std::atoi(bytes.c_str() + sizeof("HTTP/1.1 ") - 1),
          .body = bytes.substr(end + 4)};
}

}  // namespace levee
