// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <arpa/inet.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace levee::net {
namespace {

const sockaddr_in& V4(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in&>(storage);
}
const sockaddr_in6& V6(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in6&>(storage);
}

}  // namespace

Address::Address(const sockaddr* address, socklen_t size) : size_(size) {
  std::memcpy(&storage_, address, size);
}

std::optional<Address> Address::FromIp(std::string_view host, uint16_t port) {
  const std::string text(host);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    return Address(reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    return Address(reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
  }
  return std::nullopt;
}

std::optional<Address> Address::FromUnixPath(std::string_view path) {
  sockaddr_un local{};
  static_assert(sizeof local.sun_path == kMaxUnixPath + 1);
  if (path.empty() || path.size() > kMaxUnixPath) return std::nullopt;
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, path.data(), path.size());
  return Address(reinterpret_cast<const sockaddr*>(&local), sizeof local);
}

std::string Address::unix_path() const {
  if (!is_unix()) return "";
  return reinterpret_cast<const sockaddr_un&>(storage_).sun_path;
}

uint16_t Address::port() const {
  if (is_unix()) return 0;
  return ntohs(family() == AF_INET6 ? V6(storage_).sin6_port : V4(storage_).sin_port);
}

void Address::set_port(uint16_t port) {
  if (is_unix()) return;
  if (family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(storage_).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(storage_).sin_port = htons(port);
  }
}

std::string Address::ToString() const {
  if (is_unix()) return absl::StrCat("unix:", unix_path());
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET6) {
    inet_ntop(AF_INET6, &V6(storage_).sin6_addr, text, sizeof text);
    return absl::StrCat("[", text, "]:", port());
  }
  inet_ntop(AF_INET, &V4(storage_).sin_addr, text, sizeof text);
  return absl::StrCat(text, ":", port());
}

bool Address::IsWildcard() const {
  if (is_unix()) return false;
  if (family() == AF_INET6) return IN6_IS_ADDR_UNSPECIFIED(&V6(storage_).sin6_addr);
  return V4(storage_).sin_addr.s_addr == htonl(INADDR_ANY);
}

bool Address::IsLoopback() const {
  if (is_unix()) return false;
  if (family() == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&V6(storage_).sin6_addr);
  return (ntohl(V4(storage_).sin_addr.s_addr) >> 24) == 127;
}

bool Address::SameHost(const Address& other) const {
  if (family() != other.family()) return false;
  if (is_unix()) return unix_path() == other.unix_path();
  if (family() == AF_INET6) {
    return IN6_ARE_ADDR_EQUAL(&V6(storage_).sin6_addr, &V6(other.storage_).sin6_addr);
  }
  return V4(storage_).sin_addr.s_addr == V4(other.storage_).sin_addr.s_addr;
}

Address Address::Unmapped() const {
  if (family() != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&V6(storage_).sin6_addr)) return *this;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = V6(storage_).sin6_port;
  std::memcpy(&v4.sin_addr, &V6(storage_).sin6_addr.s6_addr[12], sizeof(v4.sin_addr));
  return {reinterpret_cast<const sockaddr*>(&v4), sizeof(v4)};
}

std::string Address::HostBytes() const {
  constexpr size_t kOfIpv6 = 8;
  const Address host = Unmapped();
  const auto bytes = [](const auto& address, size_t size) {
    return std::string(reinterpret_cast<const char*>(&address), size);
  };
  if (host.family() == AF_INET) return bytes(V4(host.storage_).sin_addr, sizeof(in_addr));
  if (host.family() == AF_INET6) return bytes(V6(host.storage_).sin6_addr, kOfIpv6);
  return "";
}

bool Address::IsOfThisHost() const {
  if (is_unix()) return true;
  Address any_port = *this;
  any_port.set_port(0);
  const int fd = socket(family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool bound = bind(fd, any_port.get(), any_port.size()) == 0;
  close(fd);
  return bound;
}

bool Address::Reaches(const Address& listener) const {
  if (port() != listener.port()) return false;
  const Address to = Unmapped();
  const Address at = listener.Unmapped();
  // Connecting to a wildcard address reaches the loopback interface.
  return to.SameHost(at) || (to.IsWildcard() && at.IsLoopback()) ||
         (at.IsWildcard() && (to.IsLoopback() || to.IsWildcard() || to.IsOfThisHost()));
}

bool operator==(const Address& a, const Address& b) {
  return a.port() == b.port() && a.SameHost(b);
}

}  // namespace levee::net
