// SPDX-License-Identifier: Apache-2.0
// An upstream as the configuration has it: how Levee connects to its endpoints, and which these
// are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "policy/ejection_policy.h"
#include "policy/retry_policy.h"
#include "tls/client_source.h"
#include "wire/call_kind.h"

namespace levee {

// A place to connect to. The members that `kind` does not name are empty.
struct EndpointSpec {
  enum class Kind {
    kAddress,    // `host` and `port`; `host` is an IP address, or a name to look up
    kUnix,       // the Unix socket at `path`
    kAuthority,  // the address that the call's :authority or its CONNECT tunnel names
    kOriginal,   // the address to which the caller had connected before it was redirected to Levee
  };
  Kind kind = Kind::kAddress;
  std::string host;
  uint16_t port = 0;
  std::string path;

  bool operator==(const EndpointSpec&) const = default;
};

// All endpoints of one upstream. None is of the kinds kAuthority and kOriginal.
using EndpointList = std::vector<EndpointSpec>;

// By the upstream's name. No pointer is nullptr.
using EndpointLists = std::map<std::string, std::shared_ptr<const EndpointList>>;

// The methods that the descriptor set of an upstream has, as paths: "/pkg.Service/Method".
struct DescribedMethods {
  std::set<std::string, std::less<>> all;
  std::set<std::string, std::less<>> idempotent;  // NO_SIDE_EFFECTS or IDEMPOTENT
  std::set<std::string, std::less<>> streams;     // of messages, in one direction at least

  // nullopt: the method is not among them.
  std::optional<CallKind> KindOf(std::string_view path) const {
    if (!all.contains(path)) return std::nullopt;
    return streams.contains(path) ? CallKind::kStream : CallKind::kUnary;
  }
};

// A group of endpoints that serve the same methods. The endpoints themselves may change at any time
// and are not part of it.
struct UpstreamSpec {
  std::string name;
  // The place from which an upstream learns where a call is sent.
  enum class By {
    kEndpoints,  // the upstream's list of them
    kAuthority,  // the call, as EndpointSpec::Kind::kAuthority
    kOriginal,   // its connection, as EndpointSpec::Kind::kOriginal
  };
  By by = By::kEndpoints;
  bool past_hosts_file = false;  // names are looked up in DNS alone, and not in /etc/hosts
  absl::Duration connect_timeout = absl::Seconds(1);
  absl::Duration connect_wait = absl::ZeroDuration();  // of calls where nothing can be reached
  BackoffPolicy reconnect;  // between connection attempts to one endpoint
  absl::Duration keepalive_interval = absl::InfiniteDuration();  // infinite: no PINGs
  absl::Duration keepalive_timeout = absl::Seconds(20);
  absl::Duration max_connection_age = absl::InfiniteDuration();
  std::optional<EjectionPolicy> ejection = EjectionPolicy();  // nullopt: none
  std::optional<tls::ClientSource> tls;                       // nullopt: without TLS
  std::shared_ptr<const DescribedMethods> methods;  // nullptr when there is no descriptor set
};

}  // namespace levee
