// A validated configuration, immutable, as the data plane reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "config/effective_config.h"
#include "policy/access_log_filter.h"
#include "policy/retry_policy.h"
#include "policy/route_table.h"

namespace levee {

// Where to listen: host:port, or the path of a Unix socket. `position` names the place in the
// configuration, for messages about a busy port.
struct ListenAddress {
  std::string host;      // IP literal without brackets; empty: `path`
  uint16_t port = 0;     // 0: the system picks one
  std::string path;      // empty: `host` and `port`
  std::string position;  // "levee.yaml:3:14: listeners[0].address", or "built-in default: ..."
};

// `capture`: what connections may carry.
struct Capture {
  bool h2c = true;      // HTTP/2 without TLS
  bool connect = true;  // HTTP CONNECT
};

struct ListenerSpec {
  std::string name;
  ListenAddress address;
  Capture capture;
  int mode = 0660;  // permissions of a Unix socket
};

struct EndpointSpec {
  enum class Kind {
    kAddress,    // host:port; host is an IP literal, or a name to be looked up
    kUnix,       // the socket at `path`
    kAuthority,  // dial what the call's :authority says
  };
  Kind kind = Kind::kAddress;
  std::string host;
  uint16_t port = 0;
  std::string path;
};

// The methods of an upstream's descriptor set, as paths: "/pkg.Service/Method".
struct DescribedMethods {
  std::set<std::string, std::less<>> all;
  std::set<std::string, std::less<>> idempotent;  // NO_SIDE_EFFECTS or IDEMPOTENT
};

// `reconnect`: full jitter over initial x multiplier^n up to max, unless said otherwise.
struct UpstreamSpec {
  std::string name;
  std::vector<EndpointSpec> endpoints;  // one kAuthority, or any number of the others
  absl::Duration connect_timeout = absl::Seconds(1);
  BackoffPolicy reconnect;
  absl::Duration keepalive_interval = absl::InfiniteDuration();  // Infinite: no PINGs
  absl::Duration keepalive_timeout = absl::Seconds(20);
  std::shared_ptr<const DescribedMethods> methods;  // nullptr: no descriptor set
  bool by_authority() const {
    return !endpoints.empty() && endpoints[0].kind == EndpointSpec::Kind::kAuthority;
  }
};

// Where the access log goes, and what is written. `position` as in ListenAddress.
struct AccessLogSpec {
  enum class Target { kNone, kStandardOutput, kFile };
  Target target = Target::kNone;
  std::string path;  // of the file
  std::string position;
  AccessLogFilter filter;
};

struct Limits {
  int64_t replay_bytes = 16 << 20;
  int streams_per_connection = 1024;
  int64_t metadata_bytes = 16 << 10;
  int metadata_fields = 100;
  int method_labels = 50;
  int destinations = 1000;
  int metric_series = 20'000;
  int connections = 20'000;
  int resets_per_second = 5000;
  int idle_frames_per_second = 1000;
  int64_t header_block_bytes = 64 << 10;  // at least metadata_bytes
  int pending_frames = 1000;
  int64_t output_bytes = 256 << 20;
  absl::Duration send_timeout = absl::Seconds(60);  // Infinite: none
};

// One configuration. Workers hold it by shared_ptr<const Snapshot>; nothing in it changes.
struct Snapshot {
  std::vector<ListenerSpec> listeners;
  std::optional<ListenAddress> metrics;
  bool otel_names = false;
  std::optional<ListenAddress> admin;
  std::optional<ListenAddress> grpc_admin;
  std::vector<UpstreamSpec> upstreams;
  std::vector<CallPolicy> policies;
  RouteTable routes{{}};
  OverloadPolicy overload;
  AccessLogSpec access_log;
  Limits limits;
  absl::Duration drain_timeout = absl::Seconds(20);
  std::string sha256;  // hex, of the effective configuration and the methods of descriptor sets
  std::shared_ptr<const EffectiveConfig> effective;  // what `sha256` is of, to be shown
};

}  // namespace levee
