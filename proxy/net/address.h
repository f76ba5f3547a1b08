// SPDX-License-Identifier: Apache-2.0
// The address of a stream socket: an IP address with a port, or a path.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace levee::net {

// The address of an IPv4, IPv6 or Unix socket, as a value.
class Address {
 public:
  Address() = default;
  Address(const sockaddr* address, socklen_t size);

  // `host`: an IP literal without brackets. Returns nullopt if it is not one.
  static std::optional<Address> FromIp(std::string_view host, uint16_t port);

  // Returns nullopt if the path is empty or longer than the system accepts (kMaxUnixPath).
  static std::optional<Address> FromUnixPath(std::string_view path);
  static constexpr size_t kMaxUnixPath = 107;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  bool is_unix() const { return family() == AF_UNIX; }

  // The port of an IP address; 0 for a Unix socket.
  uint16_t port() const;
  void set_port(uint16_t port);

  // The path of a Unix socket; "" for an IP address.
  std::string unix_path() const;

  // "127.0.0.1:80", "[::1]:80", "unix:/run/levee.sock".
  std::string ToString() const;

  // True for 0.0.0.0 and ::.
  bool IsWildcard() const;
  bool IsLoopback() const;

  // Returns the IPv4 address that an IPv6 address stands for (::ffff:127.0.0.1), or else the
  // address itself.
  Address Unmapped() const;

  // Returns the bytes of the IP address by which hosts are told apart, without a port: all of IPv4,
  // also where it is mapped, and half of IPv6, since a host may have each address of such a network
  // (RFC 4291, section 2.5.4). Empty for a Unix socket.
  std::string HostBytes() const;

  // Whether the system lets a socket have this IP address: the host has it, on any interface.
  bool IsOfThisHost() const;

  // True if a connection to `this` reaches a socket that listens on `listener`, as far as one host
  // can tell: both have the same path, or the same port and the same address, or `listener` has a
  // wildcard and `this` is any address of the host. An IPv4 address counts as itself however it is
  // written (::ffff:127.0.0.1).
  bool Reaches(const Address& listener) const;

  friend bool operator==(const Address& a, const Address& b);

 private:
  bool SameHost(const Address& other) const;

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace levee::net
