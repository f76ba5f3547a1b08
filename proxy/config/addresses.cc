// SPDX-License-Identifier: Apache-2.0
#include "config/addresses.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "config/wrong.h"

namespace levee {
namespace {

// Returns the value of up to `width` decimal digits without leading zeros, which some systems read
// as octal; -1 if `text` is something else or above `max`.
int ParseDecimal(const std::string& text, size_t width, int max) {
  int number;
  if (text.empty() || text.size() > width || (text.size() > 1 && text[0] == '0') ||
      !std::all_of(text.begin(), text.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &number) || number > max) {
    return -1;
  }
  return number;
}

// Addresses are read here by hand, because the system's own functions belong to net/.
std::optional<uint32_t> ReadIpv4(const std::string& host) {
  uint32_t value = 0;
  int parts = 0;
  for (size_t begin = 0; begin <= host.size(); ++parts) {
    const size_t end = std::min(host.find('.', begin), host.size());
    const int part = ParseDecimal(host.substr(begin, end - begin), 3, 255);
    if (part < 0) return std::nullopt;
    value = value << 8 | static_cast<uint32_t>(part);
    begin = end + 1;
  }
  if (parts != 4) return std::nullopt;
  return value;
}

using Ipv6Groups = absl::InlinedVector<uint16_t, 8>;

// The 16-bit groups in `text`: up to four hexadecimal digits each; the last two may be an IPv4
// address if `allow_ipv4` (RFC 4291, section 2.2).
std::optional<Ipv6Groups> ReadIpv6Groups(const std::string& text, bool allow_ipv4) {
  Ipv6Groups groups;
  for (size_t begin = 0; !text.empty() && begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    const std::string group = text.substr(begin, end - begin);
    if (const auto v4 = ReadIpv4(group); v4.has_value() && allow_ipv4 && end == text.size()) {
      groups.push_back(static_cast<uint16_t>(*v4 >> 16));
      groups.push_back(static_cast<uint16_t>(*v4));
      return groups;
    }
    uint32_t value = 0;
    if (group.size() > 4 || !absl::SimpleHexAtoi(group, &value) ||
        !std::all_of(group.begin(), group.end(), absl::ascii_isxdigit)) {
      return std::nullopt;
    }
    groups.push_back(static_cast<uint16_t>(value));
    begin = end + 1;
  }
  return groups;
}

std::optional<IpValue> ReadIpv6(const std::string& host) {
  IpValue value{};
  const size_t gap = host.find("::");  // stands for one group of zeros or more
  const bool has_gap = gap != std::string::npos;
  const auto before = ReadIpv6Groups(has_gap ? host.substr(0, gap) : host, !has_gap);
  const auto after = ReadIpv6Groups(has_gap ? host.substr(gap + 2) : "", true);
  if (!before.has_value() || !after.has_value()) return std::nullopt;
  const size_t groups = before->size() + after->size();
  if (has_gap ? groups > value.size() - 1 : groups != value.size()) return std::nullopt;
  absl::c_copy(*before, value.begin());
  std::copy(after->begin(), after->end(), value.end() - static_cast<ptrdiff_t>(after->size()));
  return value;
}

struct ParsedHostPort {
  std::string host;  // without brackets
  uint16_t port = 0;
  bool is_ip = false;
};

// Splits at the last colon; IPv6 literals stand in brackets. `example`: a valid text, for the
// error.
absl::StatusOr<ParsedHostPort> ParseHostPort(const std::string& text, const std::string& example) {
  if (text.find("://") != std::string::npos) {
    return Wrong(text, "is a URL, and not HOST:PORT; leave out what stands in front of the host");
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return Wrong(text, absl::StrCat("is not HOST:PORT; say ", example));
  }
  ParsedHostPort parsed;
  parsed.host = text.substr(0, colon);
  const std::string port = text.substr(colon + 1);
  const int number = ParseDecimal(port, 5, 65535);
  if (number < 0) {
    return Wrong(text, absl::StrCat("has no port from 0 to 65535; say ", example));
  }
  parsed.port = static_cast<uint16_t>(number);
  if (parsed.host.front() == '[' && parsed.host.back() == ']') {
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
    parsed.is_ip = ReadIpv6(parsed.host).has_value();
    if (!parsed.is_ip) return Wrong(text, "has no IPv6 address in its brackets; say [::1]:50051");
  } else if (parsed.host.find(':') != std::string::npos) {
    return Wrong(text, "has several colons; write an IPv6 address in brackets, as in [::1]:50051");
  } else {
    parsed.is_ip = ReadIpv4(parsed.host).has_value();
  }
  return parsed;
}

}  // namespace

std::optional<IpValue> ReadIp(const std::string& host) {
  const std::optional<uint32_t> v4 = ReadIpv4(host);
  if (!v4.has_value()) return ReadIpv6(host);
  return IpValue{
      0, 0, 0, 0, 0, 0xffff, static_cast<uint16_t>(*v4 >> 16), static_cast<uint16_t>(*v4)};
}

bool TakesConnectionsTo(const IpValue& own, const IpValue& to) {
  constexpr IpValue kAny = {};
  constexpr IpValue kAnyIpv4 = {0, 0, 0, 0, 0, 0xffff, 0, 0};
  const bool ipv4 = std::equal(to.begin(), to.begin() + 6, kAnyIpv4.begin());
  return own == to || own == kAny || (own == kAnyIpv4 && ipv4);
}

bool IsLoopback(const IpValue& ip) {
  constexpr IpValue kLoopback = {0, 0, 0, 0, 0, 0, 0, 1};
  constexpr IpValue kMapped = {0, 0, 0, 0, 0, 0xffff, 0x7f00, 0};
  return ip == kLoopback ||
         (std::equal(ip.begin(), ip.begin() + 6, kMapped.begin()) && ip[6] >> 8 == 0x7f);
}

// A name by RFC 1123, section 2.1; underscores are allowed, since they are in use. A name that ends
// in a number would be a malformed IP address.
bool IsHostName(const std::string& host) {
  constexpr size_t kMaxName = 253;
  constexpr size_t kMaxLabel = 63;
  std::string_view rest = host;
  if (rest.ends_with('.')) rest.remove_suffix(1);
  if (rest.empty() || rest.size() > kMaxName) return false;
  bool number = false;
  while (!rest.empty()) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    const bool form = std::all_of(label.begin(), label.end(), [](unsigned char c) {
      return absl::ascii_isalnum(c) || c == '-' || c == '_';
    });
    if (label.empty() || label.size() > kMaxLabel || !form || label.front() == '-' ||
        label.back() == '-' || rest.size() == label.size() + 1) {
      return false;
    }
    number = std::all_of(label.begin(), label.end(), absl::ascii_isdigit);
    rest.remove_prefix(std::min(rest.size(), label.size() + 1));
  }
  return !number;
}

absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text) {
  if (text.starts_with("unix:")) {
    return Wrong(text, "is a Unix socket, which HTTP clients do not reach; say 127.0.0.1:9461");
  }
  const absl::StatusOr<ParsedHostPort> parsed = ParseHostPort(text, "127.0.0.1:9460");
  if (!parsed.ok()) return parsed.status();
  if (parsed->host == "localhost") {
    return ListenAddress{.host = "127.0.0.1", .port = parsed->port, .ipv6_loopback = true};
  }
  if (!parsed->is_ip) {
    return Wrong(text, "has no IP address to listen on; say 127.0.0.1 or 0.0.0.0 for all");
  }
  return ListenAddress{.host = parsed->host, .port = parsed->port};
}

absl::StatusOr<ListenAddress> ParseListenerAddress(const std::string& text) {
  if (!text.starts_with("unix:")) return ParseListenAddress(text);
  absl::StatusOr<std::string> path = ParseUnixPath(text);
  if (!path.ok()) return path.status();
  return ListenAddress{.path = *std::move(path)};
}

absl::StatusOr<std::string> ParseUnixPath(const std::string& text) {
  constexpr size_t kMaxPath = 107;  // The size that sockaddr_un holds.
  const std::string path = text.substr(text.find(':') + 1);
  if (path.empty() || path[0] != '/') {
    return Wrong(text, "has no absolute path; say unix:/run/levee/egress.sock");
  }
  if (path.size() > kMaxPath) {
    return Wrong(text, absl::StrCat("has a path of ", path.size(),
                                    " bytes; a Unix socket's has at most ", kMaxPath));
  }
  return path;
}

absl::StatusOr<EndpointSpec> ParseEndpoint(const std::string& text) {
  if (text == "authority:") return EndpointSpec{EndpointSpec::Kind::kAuthority, "", 0};
  if (text.starts_with("authority:")) {
    return Wrong(text, "has text after \"authority:\"; the call's :authority gives the address");
  }
  if (text == "original:") return EndpointSpec{EndpointSpec::Kind::kOriginal, "", 0};
  if (text.starts_with("original:")) {
    return Wrong(text, "has text after \"original:\"; the redirected connection gives the address");
  }
  if (text.starts_with("unix:")) {
    absl::StatusOr<std::string> path = ParseUnixPath(text);
    if (!path.ok()) return path.status();
    return EndpointSpec{.kind = EndpointSpec::Kind::kUnix, .path = *std::move(path)};
  }
  const bool dns = text.starts_with("dns:");
  const absl::StatusOr<ParsedHostPort> parsed =
      ParseHostPort(dns ? text.substr(4) : text, dns ? "dns:cart.shop:50051" : "10.0.0.7:50051");
  if (!parsed.ok()) return parsed.status();
  if (parsed->port == 0) {
    return Wrong(text, "has port 0; give the port that the upstream listens on");
  }
  const bool fixed = parsed->is_ip || parsed->host == "localhost";
  if (!fixed && !IsHostName(parsed->host)) return Wrong(text, "has no IP address and no host name");
  if (!fixed && !dns) {
    return Wrong(text, absl::StrCat("has no IP address; say dns:", text, " to look the name up"));
  }
  return EndpointSpec{.host = parsed->host, .port = parsed->port};
}

}  // namespace levee
