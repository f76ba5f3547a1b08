// A validated configuration, immutable, as the data plane reads it: plain values only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "policy/access_log_filter.h"
#include "policy/retry_policy.h"
#include "policy/route_table.h"
#include "settings/limits.h"
#include "settings/listener_spec.h"
#include "settings/upstream_spec.h"

namespace levee {

// Where the access log goes, and what is written. `position` as in ListenAddress.
struct AccessLogSpec {
  enum class Target { kNone, kStandardOutput, kFile };
  Target target = Target::kNone;
  std::string path;  // of the file
  std::string position;
  AccessLogFilter filter;
};

// The configuration that is in effect, for people and programs to read. Every field has its value,
// also those that no file gives.
struct EffectiveText {
  // A file that means the same wherever it is read. The comment "# default" follows each value that
  // is a default.
  std::string yaml;

  // {"config": {...}, "defaults": ["metrics.address", ...]}. "defaults" lists the paths of the
  // fields that no file gives.
  std::string json;
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
  EffectiveText effective;  // the configuration that `sha256` is of
};

}  // namespace levee
