// SPDX-License-Identifier: Apache-2.0
#include "config/build.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hex_sha256.h"
#include "base/host_port.h"
#include "config/addresses.h"
#include "config/build_match.h"
#include "config/build_policy.h"
#include "config/checked.h"
#include "config/effective_config.h"
#include "config/shadow.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace levee {
namespace {

namespace v1 = config::v1;

std::string PositionOf(const std::string& path, const Positions& positions) {
  return FormatPlace(positions.Has(path) ? positions.Find(path)
                                         : Place{"built-in default", 0, 0, path});
}

ListenAddress AddressOf(const std::string& text, const std::string& path,
                        const Positions& positions) {
  ListenAddress address = Checked(ParseListenerAddress(text));
  address.position = PositionOf(path, positions);
  return address;
}

// Returns nullopt if the address is `none`.
std::optional<ListenAddress> OptionalAddress(const std::string& text, const std::string& path,
                                             const Positions& positions) {
  if (text == "none") return std::nullopt;
  return AddressOf(text, path, positions);
}

ListenerSpec BuildListener(const v1::Listener& message, const std::string& path,
                           const Positions& positions) {
  ListenerSpec listener;
  listener.name = message.name();
  listener.direction = DirectionOf(message);
  listener.address = AddressOf(message.address(), path + ".address", positions);
  if (message.has_mode()) listener.mode = Checked(ParseFileMode(message.mode()));
  listener.max_connection_age = DurationOf(message.max_connection_age());
  listener.capture = {.h2c = false, .connect = false};
  for (const int capture : message.capture()) {
    listener.capture.h2c |= capture == v1::Listener::CAPTURE_H2C;
    listener.capture.connect |= capture == v1::Listener::CAPTURE_CONNECT;
    listener.capture.original_dst |= capture == v1::Listener::CAPTURE_ORIGINAL_DST;
  }
  return listener;
}

UpstreamSpec::By WhatSaysWhere(const v1::Upstream& message) {
  switch (Checked(ParseEndpoint(message.endpoints(0))).kind) {
    case EndpointSpec::Kind::kAuthority:
      return UpstreamSpec::By::kAuthority;
    case EndpointSpec::Kind::kOriginal:
      return UpstreamSpec::By::kOriginal;
    case EndpointSpec::Kind::kAddress:
    case EndpointSpec::Kind::kUnix:
      break;
  }
  return UpstreamSpec::By::kEndpoints;
}

EndpointLists BuildEndpoints(const v1::Config& config) {
  EndpointLists endpoints;
  for (const v1::Upstream& upstream : config.upstreams()) {
    if (WhatSaysWhere(upstream) != UpstreamSpec::By::kEndpoints) continue;
    auto list = std::make_shared<EndpointList>();
    for (const std::string& endpoint : upstream.endpoints()) {
      list->push_back(Checked(ParseEndpoint(endpoint)));
    }
    endpoints.emplace(upstream.name(), std::move(list));
  }
  return endpoints;
}

EjectionPolicy BuildEjection(const v1::Ejection& message) {
  return {.failures = message.failures(),
          .attempts = message.attempts(),
          .success = message.success(),
          .base = DurationOf(message.base()),
          .max = DurationOf(message.max())};
}

UpstreamSpec BuildUpstream(const v1::Upstream& message,
                           std::shared_ptr<const DescribedMethods> methods) {
  UpstreamSpec upstream;
  upstream.name = message.name();
  upstream.by = WhatSaysWhere(message);
  upstream.past_hosts_file = message.resolve() == v1::Upstream::RESOLVE_DNS;
  upstream.connect_timeout = DurationOf(message.connect_timeout());
  const absl::Duration connect_wait = DurationOf(message.connect_wait());
  if (connect_wait < absl::InfiniteDuration()) upstream.connect_wait = connect_wait;
  upstream.reconnect = BuildReconnect(message.reconnect());
  upstream.keepalive_interval = DurationOf(message.keepalive().interval());
  upstream.keepalive_timeout = DurationOf(message.keepalive().timeout());
  upstream.max_connection_age = DurationOf(message.max_connection_age());
  upstream.ejection.reset();
  if (message.has_ejection()) upstream.ejection = BuildEjection(message.ejection());
  upstream.methods = std::move(methods);
  return upstream;
}

template <typename Entries>
std::map<std::string, int> IndexByName(const Entries& entries) {
  std::map<std::string, int> index;
  for (int i = 0; i < entries.size(); ++i) index[entries[i].name()] = i;
  return index;
}

RouteTable BuildRoutes(const v1::Config& config) {
  const std::map<std::string, int> upstreams = IndexByName(config.upstreams());
  const std::map<std::string, int> policies = IndexByName(config.policies());
  std::vector<Route> routes;
  for (const v1::Route& message : config.routes()) {
    Route& route = routes.emplace_back(BuildMatch(config, message.match()));
    route.deny = message.deny();
    if (route.deny) continue;
    for (const v1::Route::Part& part : message.split()) {
      route.split.push_back({upstreams.at(part.upstream()), part.weight()});
    }
    for (const std::string& key : message.split_key()) {
      route.split_key.push_back(key.substr(key.find(':') + 1));
    }
    route.upstream =
        route.split.empty() ? upstreams.at(message.upstream()) : route.split[0].upstream;
    route.policy = policies.at(message.policy());
    route.timeout = DurationOf(message.timeout());
    const std::string shadow = ShadowOf(message);
    if (!shadow.empty()) route.shadow = policies.at(shadow);
  }
  return RouteTable(std::move(routes));
}

// Returns nullopt where no call could be tied.
std::optional<TiePolicy> BuildTie(const v1::Config& config) {
  const bool inbound = std::any_of(
      config.listeners().begin(), config.listeners().end(),
      [](const v1::Listener& listener) { return DirectionOf(listener) == Direction::kInbound; });
  const v1::Tie& message = config.tie();
  if (!inbound || message.by() == v1::Tie::BY_NONE) return std::nullopt;
  TiePolicy tie = {.mark = false, .priority = false, .max_traces = message.max_traces()};
  for (const int what : message.carry()) {
    tie.mark |= what == v1::Tie::CARRY_MARK;
    tie.priority |= what == v1::Tie::CARRY_PRIORITY;
    tie.deadline |= what == v1::Tie::CARRY_DEADLINE;
    tie.cancel |= what == v1::Tie::CARRY_CANCEL;
  }
  return tie;
}

AccessLogSpec BuildAccessLog(const v1::AccessLog& message, const Positions& positions) {
  using Target = AccessLogSpec::Target;
  AccessLogSpec log;
  if (message.path() == "none") {
    log.target = Target::kNone;
  } else if (message.path() == "stdout") {
    log.target = Target::kStandardOutput;
  } else {
    log.target = Target::kFile;
    log.path = message.path();
  }
  log.position = PositionOf("access_log.path", positions);
  log.filter = {.all = false, .retried = false, .failed = false, .sample = message.sample()};
  for (const int when : message.when()) {
    log.filter.all |= when == v1::AccessLog::WHEN_ALL;
    log.filter.retried |= when == v1::AccessLog::WHEN_RETRIED;
    log.filter.failed |= when == v1::AccessLog::WHEN_FAILED;
  }
  return log;
}

StoreSpec BuildStore(const v1::Store& message, const StorePasswords& passwords,
                     const std::optional<tls::ClientSource>& tls) {
  const auto text = [](const std::string& word) { return word == "none" ? "" : word; };
  StoreSpec store;
  store.name = message.name();
  for (const std::string& node :
       message.has_sentinel() ? message.sentinel().nodes() : message.redis()) {
    const std::optional<HostPort> address = SplitHostPort(node);
    LEVEE_CHECK(address.has_value());
    store.servers.push_back({std::string(address->host), address->port});
  }
  if (message.has_sentinel()) {
    store.master = message.sentinel().master();
    store.sentinel_login = {text(message.sentinel().username()), passwords.sentinels};
  }
  store.login = {text(message.username()), passwords.redis};
  store.tls = tls;
  store.prefix = message.prefix();
  store.timeout = DurationOf(message.timeout());
  return store;
}

OtlpSpec BuildOtlp(const v1::Otlp& message, const ReceiverHeaders& headers) {
  const std::optional<ReceiverAddress> receiver = ParseReceiver(message.address());
  LEVEE_CHECK(receiver.has_value());
  return {.host = receiver->host,
          .port = receiver->port,
          .tls = receiver->tls,
          .sample = message.sample(),
          .headers = headers};
}

// The policies' global limits learn the timeouts of their stores.
void TellTimeouts(const std::vector<StoreSpec>& stores, std::vector<CallPolicy>& policies) {
  for (CallPolicy& policy : policies) {
    for (RateLimitPolicy& limit : policy.rate_limits) {
      if (!limit.shared.has_value()) continue;
      for (const StoreSpec& store : stores) {
        if (store.name == limit.shared->store) limit.shared->timeout = store.timeout;
      }
    }
  }
}

// Reads the value of a limit, by the type that the data plane has it in.
// One that is not given and has no default stays 0, and so does one that is `auto`.
void Read(const std::string& text, int64_t& bytes) {
  if (!text.empty()) bytes = Checked(ParseSize(text));
}
void Read(const std::string& text, absl::Duration& time) { time = DurationOf(text); }
void Read(const std::string& text, int& number) {
  if (text != "auto") number = Checked(ParseWhole(text));
}
void Read(int given, int& number) { number = given; }

Limits BuildLimits(const v1::Limits& message) {
  Limits limits;
#define LEVEE_CONFIGURED(enumerator, name, type) Read(message.name(), limits.name);
#define LEVEE_FIXED(enumerator, name)
  LEVEE_LIMITS(LEVEE_CONFIGURED, LEVEE_FIXED)
#undef LEVEE_CONFIGURED
#undef LEVEE_FIXED
  return limits;
}

// Returns every method, one per line: texts are equal iff the sets are.
std::string TextOf(const DescribedMethods& methods) {
  std::string text;
  for (const std::string& path : methods.all) {
    absl::StrAppend(&text, path, methods.idempotent.contains(path) ? " idempotent" : "",
                    methods.streams.contains(path) ? " stream" : "", "\n");
  }
  return text;
}

// Returns every header, one per line: texts are equal iff the headers are.
std::string TextOf(const ReceiverHeaders& headers) {
  std::string text;
  for (const auto& [name, value] : headers) absl::StrAppend(&text, name, ": ", value, "\n");
  return text;
}

// The hash is that of the effective configuration: spelling and the split into files do not matter.
std::string Sha256(v1::Config config, const LoadedFiles& files) {
  const auto& [methods, tls, passwords, headers] = files;
  // The hash covers the content of files, not their place.
  for (size_t i = 0; i < methods.size(); ++i) {
    if (methods[i] == nullptr) continue;
    config.mutable_upstreams(static_cast<int>(i))
        ->set_descriptor_set(HexSha256(TextOf(*methods[i])));
  }
  for (int i = 0; i < config.upstreams_size(); ++i) {
    if (!config.upstreams(i).has_tls()) continue;
    config.mutable_upstreams(i)->mutable_tls()->set_certificate(
        tls.upstream_digests[static_cast<size_t>(i)]);
  }
  for (int i = 0; i < config.listeners_size(); ++i) {
    if (!config.listeners(i).has_tls()) continue;
    config.mutable_listeners(i)->mutable_tls()->set_certificate(
        tls.listener_digests[static_cast<size_t>(i)]);
  }
  for (int i = 0; i < config.stores_size(); ++i) {
    v1::Store& store = *config.mutable_stores(i);
    const auto& [redis, sentinels] = passwords[static_cast<size_t>(i)];
    if (!redis.empty()) store.set_password_file(HexSha256(redis));
    if (!sentinels.empty()) store.mutable_sentinel()->set_password_file(HexSha256(sentinels));
    if (store.has_tls()) {
      store.mutable_tls()->set_certificate(tls.store_digests[static_cast<size_t>(i)]);
    }
  }
  if (!headers.empty()) config.mutable_otlp()->set_headers_file(HexSha256(TextOf(headers)));
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    const bool written = config.SerializeToCodedStream(&coded);
    LEVEE_CHECK(written);
  }
  return HexSha256(bytes);
}

std::string Sha256WithoutEndpoints(v1::Config config, const LoadedFiles& files) {
  for (v1::Upstream& upstream : *config.mutable_upstreams()) {
    if (WhatSaysWhere(upstream) == UpstreamSpec::By::kEndpoints) upstream.clear_endpoints();
  }
  return HexSha256(Sha256(std::move(config), files) + files.tls.svids_digest);
}

}  // namespace

std::shared_ptr<const Snapshot> Build(const v1::Config& config, const Positions& positions,
                                      const LoadedFiles& files) {
  const auto& [methods, tls, passwords, headers] = files;
  LEVEE_CHECK(methods.size() == static_cast<size_t>(config.upstreams_size()));
  auto snapshot = std::make_shared<Snapshot>();
  for (int i = 0; i < config.listeners_size(); ++i) {
    snapshot->listeners.push_back(
        BuildListener(config.listeners(i), absl::StrCat("listeners[", i, "]"), positions));
    snapshot->listeners.back().tls = tls.listeners[static_cast<size_t>(i)];
  }
  snapshot->metrics = OptionalAddress(config.metrics().address(), "metrics.address", positions);
  snapshot->otel_names = config.metrics().otel_names();
  snapshot->admin = OptionalAddress(config.admin().address(), "admin.address", positions);
  snapshot->grpc_admin =
      OptionalAddress(config.admin().grpc_address(), "admin.grpc_address", positions);
  for (int i = 0; i < config.upstreams_size(); ++i) {
    snapshot->upstreams.push_back(
        BuildUpstream(config.upstreams(i), methods[static_cast<size_t>(i)]));
    snapshot->upstreams.back().tls = tls.upstreams[static_cast<size_t>(i)];
  }
  for (const v1::Policy& policy : config.policies()) {
    snapshot->policies.push_back(BuildPolicy(policy));
  }
  for (int i = 0; i < config.stores_size(); ++i) {
    const auto index = static_cast<size_t>(i);
    snapshot->stores.push_back(BuildStore(config.stores(i), passwords[index], tls.stores[index]));
  }
  TellTimeouts(snapshot->stores, snapshot->policies);
  snapshot->routes = BuildRoutes(config);
  snapshot->overload = BuildOverload(config.overload());
  snapshot->tie = BuildTie(config);
  snapshot->access_log = BuildAccessLog(config.access_log(), positions);
  if (config.has_otlp()) snapshot->otlp = BuildOtlp(config.otlp(), headers);
  snapshot->limits = BuildLimits(config.limits());
  snapshot->drain_timeout = DurationOf(config.drain().timeout());
  snapshot->endpoints = BuildEndpoints(config);
  snapshot->sha256 = Sha256(config, files);
  snapshot->sha256_without_endpoints = Sha256WithoutEndpoints(config, files);
  snapshot->svids_digest = tls.svids_digest;
  snapshot->workload_apis = tls.workload_apis;
  snapshot->effective = WriteEffective(config, positions);
  return snapshot;
}

}  // namespace levee
