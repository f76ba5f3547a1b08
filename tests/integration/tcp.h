// SPDX-License-Identifier: Apache-2.0
// Blocking TCP on loopback, for tests that say every byte themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace levee {

// Whether somebody listens at "127.0.0.1:PORT".
bool IsListening(const std::string& address);

// A blocking socket, connected to "127.0.0.1:PORT"; a failure if nobody listens there.
int ConnectTo(const std::string& address);

// Owns a connected socket. Reading waits at most kPatience. One thread reads, one writes.
class TcpConnection {
 public:
  // Connects to "127.0.0.1:PORT".
  explicit TcpConnection(const std::string& address);
  explicit TcpConnection(int fd);
  ~TcpConnection();
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;

  // False if the other side is gone.
  bool Send(std::string_view bytes);

  // Up to `size` bytes; empty at the end, also one by a reset, or after kPatience.
  std::string Read(size_t size);
  std::string ReadAll();

  // Tells the other side that nothing more comes.
  void ShutdownWrite();

  // Wakes whoever reads. Any thread.
  void Shutdown();

  // Closes with a TCP reset instead of an orderly end.
  void Abort();

 private:
  int fd_;
};

// A listening socket on a port of the system's choice. One thread, but for Shutdown.
class TcpListener {
 public:
  TcpListener();
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  std::string address() const;
  uint16_t port() const { return port_; }

  // A descriptor; -1 after Shutdown.
  int Accept();
  void Shutdown();

 private:
  int fd_;
  uint16_t port_;
};

// A port that refuses connections and is given to nobody who asks for any, while who asks for this
// one can listen on it.
class ReservedPort {
 public:
  ReservedPort();
  ~ReservedPort();
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  uint16_t port() const { return port_; }
  std::string address() const;

 private:
  int fd_;
  uint16_t port_;
};

// Asks the proxy at the other end for a tunnel. False unless it agrees.
bool OpenTunnel(TcpConnection& connection, const std::string& destination);

struct HttpAnswer {
  int status = 0;  // 0: none came
  std::string body;
};
// Without a body.
HttpAnswer HttpAsk(const std::string& method, const std::string& address, const std::string& path);
inline HttpAnswer HttpGet(const std::string& address, const std::string& path) {
  return HttpAsk("GET", address, path);
}

}  // namespace levee
