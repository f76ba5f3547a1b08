// Where a stream socket is: an IP address with a port, or a path.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace levee::net {

// A value; IPv4, IPv6, or a Unix socket.
class Address {
 public:
  Address() = default;
  Address(const sockaddr* address, socklen_t size);

  // `host`: an IP literal without brackets. nullopt if it is none.
  static std::optional<Address> FromIp(std::string_view host, uint16_t port);

  // nullopt if the path is empty or longer than the system takes (kMaxUnixPath).
  static std::optional<Address> FromUnixPath(std::string_view path);
  static constexpr size_t kMaxUnixPath = 107;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  bool is_unix() const { return family() == AF_UNIX; }

  // Of an IP address; 0 of a Unix socket.
  uint16_t port() const;
  void set_port(uint16_t port);

  // Of a Unix socket; "" of an IP address.
  std::string unix_path() const;

  // "127.0.0.1:80", "[::1]:80", "unix:/run/levee.sock".
  std::string ToString() const;

  // 0.0.0.0 or ::
  bool IsWildcard() const;
  bool IsLoopback() const;

  // True if a connection to `this` reaches a socket that listens on `listener`, as far as can be
  // told on one host: same port, and the same address or a wildcard that a loopback address
  // reaches; or the same path.
  bool Reaches(const Address& listener) const;

  friend bool operator==(const Address& a, const Address& b);

 private:
  bool SameHost(const Address& other) const;

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace levee::net
