// A configuration that uses most of the contract: every part that is not built is named at once.
#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr char kCheckout[] = R"(# A shop's checkout service.
listeners:
  - {name: egress, address: "127.0.0.1:9460"}
  - {name: egress-socket, address: "unix:/run/levee/egress.sock"}
metrics: {address: "0.0.0.0:9461"}
admin: {address: "127.0.0.1:9462", grpc_address: "127.0.0.1:9463"}
upstreams:
  - name: cart
    endpoints: ["dns:cart-headless.shop:50051"]
  - name: payments
    endpoints: ["dns:payments-headless.shop:50051"]
    connect_timeout: 500ms
  - name: legacy
    endpoints: ["10.1.2.3:8080", "10.1.2.4:8080"]
  - name: anywhere
    endpoints: ["authority:"]
routes:
  - {match: {authority: "cart.shop:*"}, upstream: cart, policy: default}
  - {match: {method: "/shop.Payments/Charge"}, upstream: payments, policy: charge-once}
  - {match: {method: "/shop.Payments/*"}, upstream: payments, policy: default}
  - {match: {authority: "legacy.shop:*"}, upstream: legacy, policy: legacy}
  - {upstream: anywhere, policy: default}
policies:
  - name: charge-once
    timeout: 3s
    retry: {max_attempts: 3, failures: [refused, connect], codes: []}
    idempotency: {mode: never, key: {header: idempotency-key}}
  - name: legacy
    timeout: 10s
    retry:
      max_attempts: 4
      attempt_timeout: 2s
      codes: [UNAVAILABLE, RESOURCE_EXHAUSTED]
      backoff: {preset: google-cloud, max: 8s}
      budget: {ratio: 0.2}
      rules:
        - {http: [429, 5xx], max_attempts: 4, backoff: {preset: vital}}
        - {http: [408], max_attempts: 2, backoff: {constant: 1s}}
    rate_limit:
      - {name: per-tenant, rate: 100/s, burst: 20, key: [method, "header:x-tenant"], max_wait: 200ms}
)";

TEST(Example, PartsThatAreNotSupportedAreAllReported) {
  EXPECT_EQ(FaultsOf(kCheckout),
            "f:6:50: admin.grpc_address: not supported yet: needs the gRPC admin service; say none "
            "or leave it out");
}

}  // namespace
}  // namespace levee
