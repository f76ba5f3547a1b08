// SPDX-License-Identifier: Apache-2.0
// No field of a part that is read is dropped without a word: each has an effect, is named in a
// comment, or is a fault.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "import/imported.h"
#include "import/public_schemas.h"
#include "yaml-cpp/yaml.h"

namespace levee {
namespace {

using Importer = std::function<ImportedPolicy(const std::vector<ConfigText>&)>;

constexpr char kEnvoyFile[] = R"(
static_resources:
  listeners:
  - filter_chains:
    - filters:
      - typed_config:
          route_config:
            name: local
            virtual_hosts:
            - name: cart
              domains: [cart.shop]
              retry_policy: {retry_on: unavailable}
              rate_limits: [{actions: [{request_headers: {header_name: x, descriptor_key: x}}]}]
              typed_per_filter_config:
                envoy.filters.http.local_ratelimit:
                  stat_prefix: r
                  token_bucket: {max_tokens: 1, fill_interval: 1s}
                  filter_enabled: {default_value: {numerator: 100}}
                  filter_enforced: {default_value: {numerator: 100}}
              routes:
              - name: one
                match:
                  safe_regex: {regex: /a/.*}
                  headers: [{name: content-type, string_match: {prefix: application/grpc}}]
                  query_parameters: [{name: q, present_match: false}]
                route:
                  cluster: cart
                  timeout: 1s
                  max_stream_duration: {max_stream_duration: 2s}
                  retry_policy:
                    retry_on: unavailable
                    retry_back_off: {base_interval: 1s}
                    retry_host_predicate: [{name: p}]
              - match: {prefix: /b/}
                route: {weighted_clusters: {clusters: [{name: cart, weight: 1}]}}
              - match: {prefix: /c/}
                redirect: {host_redirect: a}
              - match: {prefix: /d/}
                direct_response: {status: 403}
          http_filters:
          - name: envoy.filters.http.ratelimit
            typed_config:
              domain: d
              rate_limit_service: {grpc_service: {envoy_grpc: {cluster_name: limits}}}
  clusters:
  - name: limits
    load_assignment: {endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 1}}}}]}]}
  - name: cart
    connect_timeout: 1s
    load_assignment:
      cluster_name: cart
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: 10.0.0.7, port_value: 1}}}
        - endpoint: {address: {pipe: {path: /a}}}
    circuit_breakers:
      thresholds: [{retry_budget: {budget_percent: {value: 20}}}]
    outlier_detection: {consecutive_5xx: 3}
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        explicit_http_config: {http2_protocol_options: {connection_keepalive: {interval: 1s, timeout: 1s}}}
        common_http_protocol_options: {max_connection_duration: 1s}
    transport_socket:
      name: envoy.transport_sockets.tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        sni: a.example
        common_tls_context:
          tls_certificates: [{certificate_chain: {filename: /c}, private_key: {filename: /k}}]
          validation_context:
            trusted_ca: {filename: /ca}
            match_typed_subject_alt_names: [{san_type: DNS, matcher: {exact: a.example}}]
)";

constexpr char kIstioFile[] = R"(
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: cart, namespace: shop}
spec:
  hosts: [cart]
  http:
  - match: [{uri: {exact: /a.A/B}, headers: {content-type: {prefix: application/grpc}}, method: {exact: POST}}]
    route: [{destination: {host: cart, port: {number: 1}}, weight: 1}]
    rewrite: {authority: a}
    retries: {attempts: 1, retryOn: unavailable}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: cart, namespace: shop}
spec:
  host: cart
  trafficPolicy:
    connectionPool: {tcp: {connectTimeout: 1s}, http: {maxRetries: 1}}
    outlierDetection: {consecutive5xxErrors: 2}
    retryBudget: {percent: 10}
    tls: {mode: SIMPLE}
)";

constexpr char kGatewayFile[] = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{kind: Service, group: "", name: cart, port: 1}]
  rules:
  - matches: [{headers: [{name: x, value: y}]}]
    backendRefs: [{name: cart, port: 1}]
  - matches: [{path: {type: Exact, value: /a.A/B}}]
    filters: [{type: URLRewrite, urlRewrite: {hostname: a}}]
    timeouts: {request: 1s}
    retry: {attempts: 1}
    backendRefs: [{name: cart, port: 1}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: other, namespace: shop}
spec:
  parentRefs: [{name: gateway}]
  hostnames: [a.example]
  rules:
  - matches: [{method: {service: a.A}}]
    backendRefs: [{name: cart, port: 1}]
---
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XBackendTrafficPolicy
metadata: {name: cart, namespace: shop}
spec:
  targetRefs: [{group: "", kind: Service, name: cart}]
  retryConstraint: {budget: {percent: 1}, minRetryRate: {count: 1}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: cart, namespace: shop}
spec:
  targetRefs: [{group: "", kind: Service, name: cart}]
  validation: {hostname: a.example, caCertificateRefs: [{kind: ConfigMap, name: ca}], subjectAltNames: [{type: Hostname, hostname: a.example}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: cart, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: GRPCRoute, name: other}]
  retry: {numRetries: 3, retryOn: {triggers: [unavailable]}, perRetry: {timeout: 1s, backOff: {baseInterval: 1s}}}
  timeout: {tcp: {connectTimeout: 2s}, http: {requestTimeout: 3s}}
  rateLimit: {type: Local, local: {rules: [{limit: {requests: 100, unit: Second}}]}}
  healthCheck: {passive: {consecutive5XxErrors: 5}}
  circuitBreaker: {maxParallelRequests: 1000}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: cart, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]
  retry: {attempts: 0}
  timeouts: {request: 1s}
  rateLimit: {local: {tokenBucket: {maxTokens: 1, fillInterval: 1s}}}
)";

constexpr char kLinkerdFile[] = R"(
apiVersion: linkerd.io/v1alpha2
kind: ServiceProfile
metadata: {name: cart.shop.svc.cluster.local, namespace: shop}
spec:
  routes:
  - condition: {pathRegex: /a.A/.*}
    isRetryable: true
    responseClasses: [{condition: {status: {min: 500, max: 599}}, isFailure: true}]
  retryBudget: {retryRatio: 0.1}
)";

constexpr char kGrpcFile[] = R"({"healthCheckConfig": {"serviceName": ""},
"methodConfig": [
  {"name": [{"service": "a.A"}], "retryPolicy": {"maxAttempts": 2, "initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}},
  {"name": [{"service": "b.B"}], "hedgingPolicy": {"maxAttempts": 2}}],
"retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}})";

// A mapping of the documents, by the keys and positions that lead to it.
struct MapPlace {
  YAML::Node node;
  std::string path;
};

void FindMaps(const YAML::Node& node, const std::string& path, std::vector<MapPlace>& maps) {
  if (node.IsMap()) maps.push_back({node, path});
  if (node.IsMap()) {
    for (const auto& entry : node) {
      FindMaps(entry.second, absl::StrCat(path, "/", entry.first.Scalar()), maps);
    }
  }
  for (size_t i = 0; node.IsSequence() && i < node.size(); ++i) {
    FindMaps(node[i], absl::StrCat(path, "/", i), maps);
  }
}

ImportedPolicy ImportAll(const Importer& import, const std::vector<YAML::Node>& documents) {
  std::string text;
  for (const YAML::Node& document : documents) {
    absl::StrAppend(&text, documents.size() == 1 ? "" : "---\n", YAML::Dump(document), "\n");
  }
  return import({{"f", text}});
}

// The result of the import as text.
std::string AllOf(const Importer& import, const std::vector<YAML::Node>& documents) {
  const ImportedPolicy imported = ImportAll(import, documents);
  return imported.yaml + FormatFaults(imported.faults);
}

// The mappings in which a field that nobody knows is dropped without a word, of those that `skip`
// does not name by a part of their paths.
std::string PlacesThatDrop(const Importer& import, const std::string& text,
                           const std::set<std::string>& skip) {
  std::string places;
  std::vector<YAML::Node> documents = YAML::LoadAll(text);
  std::vector<MapPlace> maps;
  for (const YAML::Node& document : documents) FindMaps(document, "", maps);
  const std::string base = AllOf(import, documents);
  EXPECT_FALSE(absl::StrContains(base, "madeUp")) << text;
  for (MapPlace& map : maps) {
    const bool skipped = std::any_of(skip.begin(), skip.end(), [&map](const std::string& part) {
      return absl::StrContains(absl::StrCat(map.path, "/"), part + "/");
    });
    if (skipped) continue;
    map.node["madeUp"] = "1";
    const std::string all = AllOf(import, documents);
    const bool named = absl::StrContains(all, "madeUp") || absl::StrContains(all, "made_up");
    if (!named && ValuesOf(all, "routes") == ValuesOf(base, "routes")) {
      absl::StrAppend(&places, map.path, "\n");
    }
    map.node.remove("madeUp");
  }
  return places;
}

// The mapping at the end of a path.
MapPlace MapAt(const std::vector<YAML::Node>& documents, const std::string& path) {
  std::vector<MapPlace> maps;
  for (const YAML::Node& document : documents) FindMaps(document, "", maps);
  for (const MapPlace& map : maps) {
    if (absl::EndsWith(map.path, path)) return map;
  }
  ADD_FAILURE() << "no " << path;
  return {};
}

// Whether some value of the field has an effect or a comment, or none can be read.
bool IsSaid(const Importer& import, const std::string& text, const Message& message,
            const std::string& field, const std::string& base) {
  bool read = false;
  for (const char* value : {"7s", "7", "true", "false", "x", "[x]", "{x: y}"}) {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    YAML::Node map = MapAt(documents, message.path).node;
    if (map[field].IsDefined()) return true;  // The documents have it, for its own test.
    map[field] = YAML::Load(value);
    const ImportedPolicy imported = ImportAll(import, documents);
    if (!imported.faults.empty()) continue;
    if (imported.yaml != base) return true;
    read = true;
  }
  return !read;
}

// The fields of the messages that make no difference to the result.
std::string FieldsWithoutAWord(const Importer& import, const std::string& text,
                               const std::vector<Message>& messages,
                               const std::set<std::string>& silent) {
  std::string lost;
  const std::string base = ImportAll(import, YAML::LoadAll(text)).yaml;
  EXPECT_NE(base, "");
  for (const Message& message : messages) {
    for (const std::string& field : message.fields) {
      if (silent.contains(field) || IsSaid(import, text, message, field, base)) continue;
      absl::StrAppend(&lost, message.path, " ", field, "\n");
    }
  }
  return lost;
}

// The silent ones are names for statistics, and where the endpoints and weights come from.
TEST(NoFieldIsLost, OfEnvoysSchema) {
  const std::set<std::string> silent = {"alt_stat_name", "cluster_name", "eds_cluster_config",
                                        "total_weight", "track_remaining"};
  EXPECT_EQ(FieldsWithoutAWord(ImportEnvoy, kEnvoyFile, kEnvoyMessages, silent), "");
}

TEST(NoFieldIsLost, OfIstiosSchema) {
  EXPECT_EQ(FieldsWithoutAWord(ImportIstio, kIstioFile, kIstioMessages, {}), "");
}

// Of these a comment names the whole: answers of Envoy itself, and a cluster to which no route
// leads.
TEST(NoFieldIsLost, OfEnvoy) {
  EXPECT_EQ(
      PlacesThatDrop(ImportEnvoy, kEnvoyFile, {"/redirect", "/direct_response", "/clusters/0"}),
      "");
}

// Labels and the like say nothing of calls.
const std::set<std::string>& OfObjects() {
  static const auto& metadata = *new std::set<std::string>{"/metadata"};
  return metadata;
}

TEST(NoFieldIsLost, OfIstio) {
  EXPECT_EQ(PlacesThatDrop(ImportIstio, kIstioFile, OfObjects()), "");
}

TEST(NoFieldIsLost, OfTheGatewayApi) {
  std::set<std::string> skip = OfObjects();
  skip.insert({"/filters/0", "/urlRewrite"});  // A comment names the whole.
  EXPECT_EQ(PlacesThatDrop(ImportGatewayApi, kGatewayFile, skip), "");
}

TEST(NoFieldIsLost, OfLinkerd) {
  EXPECT_EQ(PlacesThatDrop(ImportLinkerd, kLinkerdFile, OfObjects()), "");
}

TEST(NoFieldIsLost, OfAGrpcServiceConfig) {
  EXPECT_EQ(PlacesThatDrop(ImportGrpcServiceConfig, kGrpcFile, {}), "");
}

}  // namespace
}  // namespace levee
