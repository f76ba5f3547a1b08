// SPDX-License-Identifier: Apache-2.0
// A validated configuration, immutable, as the data plane reads it: plain values only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "policy/access_log_filter.h"
#include "policy/retry_policy.h"
#include "policy/route_table.h"
#include "policy/tie_policy.h"
#include "settings/limits.h"
#include "settings/listener_spec.h"
#include "settings/otlp_spec.h"
#include "settings/store_spec.h"
#include "settings/upstream_spec.h"

namespace levee {

// Where the access log goes, and which calls are written to it.
struct AccessLogSpec {
  enum class Target { kNone, kStandardOutput, kFile };
  Target target = Target::kNone;
  std::string path;      // of the file; empty for the other targets
  std::string position;  // in the configuration, as in ListenAddress
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

// One configuration. It never changes: each worker holds a shared_ptr<const Snapshot>, and a reload
// replaces that. A reload that changes nothing but `endpoints` replaces the configuration in effect
// and leaves the workers the snapshot that they have. So a worker must not read what comes after
// `drain_timeout`: for it, these may be the values of an earlier configuration. Above 20 data
// members: each is a part of the configuration.
struct Snapshot {
  std::vector<ListenerSpec> listeners;
  std::optional<ListenAddress> metrics;  // of /metrics; none when it is switched off
  bool otel_names = false;             // whether /metrics also has the names of gRPC's own metrics
  std::optional<ListenAddress> admin;  // of the page and the state
  std::optional<ListenAddress> grpc_admin;  // of the admin services over gRPC
  std::vector<UpstreamSpec> upstreams;
  std::vector<CallPolicy> policies;
  RouteTable routes{{}};  // refers to `upstreams` and `policies` by their indices
  std::vector<StoreSpec> stores;
  OverloadPolicy overload;
  std::optional<TiePolicy> tie;  // none also without an inbound listener
  AccessLogSpec access_log;
  std::optional<OtlpSpec> otlp;  // none: calls have no spans
  Limits limits;
  absl::Duration drain_timeout = absl::Seconds(20);

  // That the configuration lists, for each upstream that goes by them; at least one.
  EndpointLists endpoints;
  // Of the effective configuration and the methods of descriptor sets, in hexadecimal digits.
  std::string sha256;
  // Of that and of `svids_digest`, as if `endpoints` were empty.
  std::string sha256_without_endpoints;
  // Of what the Workload APIs have given, which differs from pod to pod and is no part of `sha256`.
  // Empty if that is nothing.
  std::string svids_digest;
  std::vector<std::string> workload_apis;  // the sockets: "unix:///run/spire/agent.sock"
  EffectiveText effective;                 // the configuration that `sha256` is of

  // Returns how routes know the listener of a connection, which was accepted by `spec`. That may be
  // of an earlier snapshot: the listener is found again by its name, and the connection keeps its
  // direction.
  ListenerRef ListenerRefOf(const ListenerSpec& spec) const {
    for (size_t i = 0; i < listeners.size(); ++i) {
      if (listeners[i].name == spec.name) return {static_cast<int>(i), spec.direction};
    }
    return {.direction = spec.direction};
  }
};

}  // namespace levee
