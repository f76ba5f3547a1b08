// An IP address with a port.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace levee::net {

// A value; IPv4 or IPv6.
class Address {
 public:
  Address() = default;
  Address(const sockaddr* address, socklen_t size);

  // `host`: an IP literal without brackets. nullopt if it is none.
  static std::optional<Address> FromIp(std::string_view host, uint16_t port);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  uint16_t port() const;
  void set_port(uint16_t port);

  // "127.0.0.1:80", "[::1]:80".
  std::string ToString() const;

  // 0.0.0.0 or ::
  bool IsWildcard() const;
  bool IsLoopback() const;

  // True if a connection to `this` reaches a socket that listens on `listener`, as far as can be
  // told on one host: same port, and the same address or a wildcard that a loopback address
  // reaches.
  bool Reaches(const Address& listener) const;

  friend bool operator==(const Address& a, const Address& b);

 private:
  bool SameHost(const Address& other) const;

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

// "host:port" or "[v6]:port" split in two; nullopt if there is no port from 1 to 65535.
struct HostPort {
  std::string_view host;
  uint16_t port;
};
std::optional<HostPort> SplitHostPort(std::string_view text);

}  // namespace levee::net
