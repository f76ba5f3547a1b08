// SPDX-License-Identifier: Apache-2.0
// Whole files as they are found in the field.
#include <string>

#include "gtest/gtest.h"
#include "import/imported.h"

namespace levee {
namespace {

// The values of gRFC A6's examples.
constexpr char kServiceConfig[] = R"({
  "methodConfig": [
    {
      "name": [
        { "service": "shop.Cart", "method": "Get" },
        { "service": "shop.Search" }
      ],
      "timeout": "1.5s",
      "retryPolicy": {
        "maxAttempts": 4,
        "initialBackoff": ".1s",
        "maxBackoff": "1s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]
      }
    }
  ],
  "retryThrottling": {
    "maxTokens": 10,
    "tokenRatio": 0.1
  }
}
)";

constexpr char kServiceConfigPolicy[] =
    R"(# Levee's equivalent of the gRPC service config in f.
#
# Take retryPolicy and hedgingPolicy out of the application's own service config: with them its
# library goes on retrying, and Levee holds those retries to the budget (app_retries: limit).

upstreams:
  # A service config belongs to one target; this dials whatever a call's :authority says. To hold
  # the routes to the target, name its endpoints here and its authority in each match.
  - name: anywhere
    endpoints: ["authority:"]

routes:
  - match: {method: "/shop.Cart/Get"}
    upstream: anywhere
    policy: shop.Cart.Get
  - match: {method: "/shop.Search/*"}
    upstream: anywhere
    policy: shop.Cart.Get
  # The methods that no methodConfig names, which gRPC does not retry. Levee's own policy for them
  # is default.
  - upstream: anywhere
    policy: no-retries

# commit: headers is what gRPC does: response headers end retrying. Without it a failure that
# follows them at once is retried as well.
# When retrying ends without success, gRPC passes the last status on as it is. exhausted: keep does
# the same. Levee by default adds the overload signal for the layers above, and once the budget is
# used up the status is RESOURCE_EXHAUSTED.
# budget is retryThrottling {maxTokens: 10, tokenRatio: 0.1}: both allow tokenRatio retries per call
# in the long run. gRPC counts the successes and failures of one channel and retries about the first
# 5 failures before it holds back. Levee counts the calls to a destination in the last 10s, and
# allows 1 retry a second (floor) as long as most of them succeed.
policies:
  # From methodConfig[0], line 3.
  - name: shop.Cart.Get
    timeout: 1.5s
    retry:
      max_attempts: 4
      codes: [UNAVAILABLE]
      # To gRPC a lost connection is UNAVAILABLE too, hence reset: a call that had reached the
      # server may run twice.
      failures: [refused, connect, reset]
      backoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: {factor: 0.2}}
      budget: {ratio: 0.1}
      commit: headers
  - name: no-retries
    retry:
      max_attempts: 1
)";

TEST(Samples, AGrpcServiceConfig) { EXPECT_EQ(FromGrpc(kServiceConfig), kServiceConfigPolicy); }

TEST(Samples, APolicyThatLeveeWouldNotReadIsAFault) {
  std::string config = "{methodConfig: [";
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&config, "{name: [{service: ", std::string(100, 's'), i, "}], timeout: 1s},");
  }
  EXPECT_EQ(FaultsOfGrpc(config + "]}"),
            "f: makes a policy above 1 MiB, which Levee does not read; import it in parts");
}

TEST(Samples, AGrpcServiceConfigMeansTheSameToLevee) {
  const auto snapshot = CheckConfig({{"f", FromGrpc(kServiceConfig)}}, std::nullopt).snapshot;
  ASSERT_NE(snapshot, nullptr);
  const Route* route = snapshot->routes.Find({.listener = {},
                                              .authority = "cart.shop:50051",
                                              .path = "/shop.Cart/Get",
                                              .peer = "",
                                              .headers = std::nullopt});
  ASSERT_NE(route, nullptr);
  const CallPolicy& policy = snapshot->policies[static_cast<size_t>(route->policy)];
  EXPECT_EQ(policy.timeout, absl::Milliseconds(1500));
  EXPECT_EQ(policy.retry.max_attempts, 4);
  EXPECT_EQ(policy.retry.codes, StatusCodeSet({StatusCode::kUnavailable}));
  EXPECT_TRUE(policy.retry.failures.reset);
  EXPECT_FALSE(policy.retry.failures.timeout);
  EXPECT_EQ(policy.retry.backoff.initial, absl::Milliseconds(100));
  EXPECT_EQ(policy.retry.backoff.jitter, Jitter::kFactor);
  EXPECT_EQ(policy.retry.backoff.factor, 0.2);
  EXPECT_EQ(policy.retry.commit, CommitMode::kHeaders);
  const Route* other = snapshot->routes.Find({.listener = {},
                                              .authority = "cart.shop:50051",
                                              .path = "/shop.Cart/Put",
                                              .peer = "",
                                              .headers = std::nullopt});
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(snapshot->policies[static_cast<size_t>(other->policy)].retry.max_attempts, 1);
}

constexpr char kBootstrap[] = R"(admin:
  address:
    socket_address: {address: 127.0.0.1, port_value: 9901}
static_resources:
  listeners:
  - name: listener_0
    address:
      socket_address: {address: 127.0.0.1, port_value: 10000}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: egress
          codec_type: AUTO
          route_config:
            name: local_route
            virtual_hosts:
            - name: cart
              domains: ["cart.shop", "cart.shop:50051"]
              routes:
              - match: {path: "/shop.Cart/Watch"}
                route: {cluster: cart, timeout: 0s}
              - match: {prefix: "/shop.Cart/", grpc: {}}
                route:
                  cluster: cart
                  timeout: 10s
                  retry_policy:
                    retry_on: unavailable,resource-exhausted,refused-stream,connect-failure
                    num_retries: 3
                    per_try_timeout: 2s
                    retry_back_off: {base_interval: 0.1s, max_interval: 2s}
                    retry_host_predicate:
                    - name: envoy.retry_host_predicates.previous_hosts
                    host_selection_retry_max_attempts: 3
            - name: rest
              domains: ["*"]
              routes:
              - match:
                  prefix: "/"
                  headers: [{name: x-canary, present_match: true}]
                route: {cluster: other}
              - match: {prefix: "/"}
                route: {cluster: other}
          http_filters:
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
  - name: cart
    type: STATIC
    connect_timeout: 0.25s
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
    load_assignment:
      cluster_name: cart
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: 10.0.0.7, port_value: 50051}}}
        - endpoint: {address: {socket_address: {address: 10.0.0.8, port_value: 50051}}}
    circuit_breakers:
      thresholds:
      - retry_budget: {budget_percent: {value: 20}, min_retry_concurrency: 3}
)";

constexpr char kBootstrapPolicy[] = R"(# Levee's equivalent of the Envoy configuration in f.
#
# Levee does not read x-envoy-retry-on, x-envoy-max-retries and the other headers by which calls
# change Envoy's policy.
#
# Not read: static_resources.listeners[0].address, admin.

upstreams:
  - name: cart
    endpoints: ["10.0.0.7:50051", "10.0.0.8:50051"]
    connect_timeout: 250ms
  - name: other
    # The file does not have this cluster; name its endpoints here. Until then this dials what a
    # call's :authority says.
    endpoints: ["authority:"]
  # Nothing is at this address, so that a call fails at once as UNAVAILABLE.
  - name: nowhere
    endpoints: ["unix:/nowhere"]

routes:
  # From typed_config.route_config.virtual_hosts[0].routes[0], line 22.
  - match: {authority: cart.shop, method: "/shop.Cart/Watch"}
    upstream: cart
    policy: cart
  # From typed_config.route_config.virtual_hosts[0].routes[1], line 24.
  - match: {authority: cart.shop, method: "/shop.Cart/*"}
    upstream: cart
    policy: cart-2
  # A call to cart.shop that none of its routes take has no route in Envoy. Here it fails at once,
  # and does not go on to the routes of *.
  - match: {authority: cart.shop}
    upstream: nowhere
    policy: no-retries
  - match: {authority: "cart.shop:50051", method: "/shop.Cart/Watch"}
    upstream: cart
    policy: cart
  - match: {authority: "cart.shop:50051", method: "/shop.Cart/*"}
    upstream: cart
    policy: cart-2
  # A call to cart.shop:50051 that none of its routes take has no route in Envoy. Here it fails at
  # once, and does not go on to the routes of *.
  - match: {authority: "cart.shop:50051"}
    upstream: nowhere
    policy: no-retries
  # From typed_config.route_config.virtual_hosts[1].routes[0], line 39.
  - match: {method: "/*", headers: [{name: x-canary, present: true}]}
    upstream: other
    policy: other
  # From typed_config.route_config.virtual_hosts[1].routes[1], line 43.
  - match: {method: "/*"}
    upstream: other
    policy: other

# timeout: Envoy counts it from the end of the request, Levee from its beginning. Calls that stream
# for longer want none.
# commit: headers is what Envoy does: response headers end retrying. Without it a failure that
# follows them at once is retried as well.
# When retrying ends without success, Envoy passes the last status on as it is. exhausted: keep does
# the same. Levee by default adds the overload signal for the layers above, and once the budget is
# used up the status is RESOURCE_EXHAUSTED.
policies:
  - name: cart
    retry:
      max_attempts: 1
      # retry_budget of cluster "cart": Envoy lets retries be 20% of the requests under way, Levee
      # of the calls in the last 10s.
      # min_retry_concurrency: Envoy always lets 3 retries be under way. Levee's burst lets as many
      # fail in a row, and then successes have to pay for more.
      budget: {ratio: 0.2, burst: {least: 3}}
  - name: cart-2
    timeout: 10s
    retry:
      max_attempts: 4
      codes: [UNAVAILABLE, RESOURCE_EXHAUSTED]
      failures: [refused, connect]
      attempt_timeout: 2s
      backoff: {initial: 100ms, multiplier: 2, max: 2s, jitter: full}
      # retry_budget of cluster "cart": Envoy lets retries be 20% of the requests under way, Levee
      # of the calls in the last 10s.
      # min_retry_concurrency: Envoy always lets 3 retries be under way. Levee's burst lets as many
      # fail in a row, and then successes have to pay for more.
      budget: {ratio: 0.2, burst: {least: 3}}
      commit: headers
      # retry_host_predicate: Levee avoids the endpoints that failed in any case.
      # host_selection_retry_max_attempts: Levee looks at every endpoint, so that it needs no bound.
  - name: other
    # Envoy's default for a route without timeout.
    timeout: 15s
    retry:
      max_attempts: 1
  - name: no-retries
    retry:
      max_attempts: 1

overload:
  # Envoy never retries an answer that has x-envoy-overloaded.
  honor: [levee, error_info, pushback, envoy]
)";

TEST(Samples, AnEnvoyBootstrap) { EXPECT_EQ(FromEnvoy(kBootstrap), kBootstrapPolicy); }

TEST(Samples, AnEnvoyBootstrapMeansTheSameToLevee) {
  const auto snapshot = CheckConfig({{"f", FromEnvoy(kBootstrap)}}, std::nullopt).snapshot;
  ASSERT_NE(snapshot, nullptr);
  const Route* route = snapshot->routes.Find({.listener = {},
                                              .authority = "cart.shop:50051",
                                              .path = "/shop.Cart/Get",
                                              .peer = "",
                                              .headers = std::nullopt});
  ASSERT_NE(route, nullptr);
  EXPECT_EQ(snapshot->upstreams[static_cast<size_t>(route->upstream)].name, "cart");
  const CallPolicy& policy = snapshot->policies[static_cast<size_t>(route->policy)];
  EXPECT_EQ(policy.timeout, absl::Seconds(10));
  EXPECT_EQ(policy.retry.max_attempts, 4);
  EXPECT_EQ(policy.retry.attempt_timeout, absl::Seconds(2));
  EXPECT_TRUE(policy.retry.failures.refused);
  EXPECT_TRUE(policy.retry.failures.connect);
  EXPECT_FALSE(policy.retry.failures.reset);
  EXPECT_EQ(policy.retry.backoff.jitter, Jitter::kFull);
  EXPECT_EQ(policy.retry.budget.ratio, 0.2);
  EXPECT_TRUE(snapshot->overload.honor.envoy);
}

}  // namespace
}  // namespace levee
