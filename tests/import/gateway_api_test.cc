// SPDX-License-Identifier: Apache-2.0
// What a policy of Levee makes of the Gateway API's routes.
#include <string>

#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string FromGateway(const std::string& text) {
  return Checked(ImportGatewayApi({{"f", text}}));
}
std::string FaultsOfGateway(const std::string& text) {
  return FormatFaults(ImportGatewayApi({{"f", text}}).faults);
}

// A route with `spec` in the namespace shop; a line of its own for each part that is given.
std::string GatewayRoute(const std::string& kind, const std::string& spec,
                         const std::string& metadata = "") {
  return absl::StrCat("apiVersion: gateway.networking.k8s.io/v1\nkind: ", kind,
                      "\nmetadata: {name: r, namespace: shop", metadata, "}\nspec: {", spec, "}\n");
}
std::string GatewayRule(const std::string& fields) {
  return absl::StrCat("hostnames: [cart.example], rules: [{backendRefs: [{name: cart, port: 80}], ",
                      fields, "}]");
}
std::string Http(const std::string& fields) {
  return GatewayRoute("HTTPRoute", GatewayRule(fields));
}
std::string Grpc(const std::string& fields) {
  return GatewayRoute("GRPCRoute", GatewayRule(fields));
}

std::string Traffic(const std::string& constraint) {
  return absl::StrCat(
      "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackendTrafficPolicy\n"
      "metadata: {name: b, namespace: shop}\nspec: {targetRefs: [{group: '', kind: Service, name: "
      "cart}], retryConstraint: ",
      constraint, "}\n");
}
std::string Tls(const std::string& validation) {
  return absl::StrCat(
      "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\n"
      "metadata: {name: t, namespace: shop}\nspec: {targetRefs: [{group: '', kind: Service, name: "
      "cart}], validation: ",
      validation, "}\n");
}

std::string GatewayRoutes(const std::string& text) { return ValuesOf(FromGateway(text), "routes"); }
// Without the policy of the calls that no route takes.
std::string GatewayPolicies(const std::string& text) {
  return WithoutRest(ValuesOf(FromGateway(text), "policies"));
}
std::string GatewayUpstreams(const std::string& text) {
  return ValuesOf(FromGateway(text), "upstreams");
}

TEST(GatewayApi, AGrpcMethodIsAGlob) {
  EXPECT_EQ(GatewayRoutes(Grpc("matches: [{method: {service: shop.Cart, method: Get}}]")),
            "  - match: {authority: cart.example, method: \"/shop.Cart/Get\"}\n"
            "    upstream: cart\n"
            "    policy: no-retries\n"
            "  - match: {authority: \"cart.example:*\", method: \"/shop.Cart/Get\"}\n"
            "    upstream: cart\n"
            "    policy: no-retries\n"
            "  - match: {authority: cart.example}\n"
            "    upstream: nowhere\n"
            "    policy: no-retries\n"
            "  - match: {authority: \"cart.example:*\"}\n"
            "    upstream: nowhere\n"
            "    policy: no-retries\n"
            "  - upstream: anywhere\n"
            "    policy: no-retries\n");
  EXPECT_THAT(GatewayRoutes(Grpc("matches: [{method: {service: shop.Cart}}]")),
              HasSubstr("method: \"/shop.Cart/*\""));
  EXPECT_THAT(GatewayRoutes(Grpc("matches: [{method: {method: Get}}]")),
              HasSubstr("method: \"/*/Get\""));
}

TEST(GatewayApi, ABackendIsAnEndpointByItsName) {
  EXPECT_THAT(GatewayUpstreams(Grpc("matches: []")),
              HasSubstr("  - name: cart\n    endpoints: [\"dns:cart.shop:80\"]\n"));
  EXPECT_THAT(GatewayUpstreams(GatewayRoute("GRPCRoute",
                                            "rules: [{backendRefs: [{name: c, namespace: other, "
                                            "port: 5}]}]")),
              HasSubstr("endpoints: [\"dns:c.other:5\"]\n"));
}

TEST(GatewayApi, TheMostExactMatchComesFirst) {
  const std::string routes = GatewayRoutes(
      Grpc("matches: [{}, {method: {service: a.A}}, {method: {service: a.A, method: Get}}]"));
  const size_t method = routes.find("\"/a.A/Get\""), service = routes.find("\"/a.A/*\"");
  EXPECT_LT(method, service);
  EXPECT_LT(service, routes.find("{authority: cart.example}"));
  EXPECT_LT(routes.find("{authority: cart.example}"), routes.find("  - upstream: anywhere"));
}

TEST(GatewayApi, AParentThatIsAServiceIsMatchedByItsNames) {
  const std::string routes =
      GatewayRoutes(GatewayRoute("GRPCRoute",
                                 "parentRefs: [{group: '', kind: Service, name: cart, port: 80}], "
                                 "rules: [{backendRefs: [{name: cart, port: 80}]}]"));
  for (const char* authority :
       {"cart.shop:80", "cart.shop.svc:80", "cart.shop.svc.cluster.local:80"}) {
    EXPECT_THAT(routes, HasSubstr(absl::StrCat("{authority: \"", authority, "\"}")));
  }
}

TEST(GatewayApi, PathsArePrefixesByTheirParts) {
  EXPECT_THAT(GatewayRoutes(Http("matches: [{path: {type: Exact, value: /a.A/Get}}]")),
              HasSubstr("method: \"/a.A/Get\""));
  EXPECT_THAT(GatewayRoutes(Http("matches: [{path: {value: /a.A/}}]")),
              HasSubstr("method: \"/a.A/*\""));
  EXPECT_THAT(GatewayRoutes(Http("matches: [{path: {value: /a.A/Get}}]")),
              HasSubstr("method: \"/a.A/Get\""));
  EXPECT_THAT(GatewayRoutes(Http("matches: [{path: {type: PathPrefix, value: /}}]")),
              HasSubstr("match: {authority: cart.example}"));
}

// The attempts of a call to cart.example, and its upstream.
std::string GatewayCall(const std::string& text, const std::string& method) {
  return CallIn(FromGateway(text), "cart.example", method);
}
std::string GatewayCounts(const std::string& text) {
  return ImportGatewayApi({{"f", text}}).routes.Format();
}

TEST(GatewayApi, ARouteForSomeOfTheCallsThatItNamesTriesThemOnce) {
  for (const std::string& text :
       {Http("matches: [{path: {type: RegularExpression, value: '/[ab]/.*'}}], retry: {attempts: "
             "2}"),
        Grpc("matches: [{method: {type: RegularExpression, service: '[a-c]'}}]"),
        Http("filters: [{type: URLRewrite, urlRewrite: {path: {}}}], retry: {attempts: 2}"),
        Http("filters: [{type: ExtensionRef}], retry: {attempts: 2}")}) {
    EXPECT_EQ(GatewayCall(text, "/a/Get"), "cart, 1 attempt") << text;
    EXPECT_EQ(GatewayCounts(text), "routes: 0 exact, 0 narrowed, 1 guarded, 0 refused") << text;
  }
}

TEST(GatewayApi, ARuleWithHeadersComesBeforeOneWithoutWhereverItStands) {
  const std::string text = GatewayRoute(
      "HTTPRoute",
      "hostnames: [cart.example], rules: [{backendRefs: [{name: cart, port: 80}], retry: "
      "{attempts: "
      "3}}, {matches: [{headers: [{name: x, value: y}]}], backendRefs: [{name: cart, port: 80}]}]");
  EXPECT_EQ(CallIn(FromGateway(text), "cart.example", "/a.A/Get", {{"x", "y"}}), "cart, 1 attempt");
  EXPECT_EQ(GatewayCall(text, "/a.A/Get"), "cart, 4 attempts");
  const std::string other = GatewayRoute(
      "HTTPRoute",
      "hostnames: [cart.example], rules: [{backendRefs: [{name: cart, port: 80}]}, {matches: "
      "[{headers: [{name: x, value: 'y|z', type: RegularExpression}]}], backendRefs: [{name: "
      "canary, port: 80}]}]");
  EXPECT_EQ(CallIn(FromGateway(other), "cart.example", "/a.A/Get", {{"x", "z"}}),
            "canary, 1 attempt");
  EXPECT_EQ(GatewayCall(other, "/a.A/Get"), "cart, 1 attempt");
  EXPECT_EQ(GatewayCounts(other), "routes: 2 exact, 0 narrowed, 0 guarded, 0 refused");
}

TEST(GatewayApi, ARegularExpressionOfNamesIsTheirMethods) {
  const std::string grpc = Grpc(
      "matches: [{method: {type: RegularExpression, service: 'shop\\.(Cart|Basket)', method: "
      "Get.*}}]");
  EXPECT_EQ(GatewayCounts(grpc), "routes: 1 exact, 0 narrowed, 0 guarded, 0 refused");
  EXPECT_EQ(GatewayCall(grpc, "/shop.Basket/GetItem"), "cart, 1 attempt");
  EXPECT_EQ(GatewayCall(grpc, "/shop.Basket/Put"), "nowhere, 1 attempt");
}

TEST(GatewayApi, WhatNoGrpcCallHasMatchesNone) {
  for (const char* match : {"method: GET", "queryParams: [{name: x, value: y}]",
                            "headers: [{name: content-type, value: text/html}]"}) {
    const std::string text = Http(absl::StrCat("matches: [{", match, "}]"));
    EXPECT_EQ(GatewayCall(text, "/a.A/Get"), "nowhere, 1 attempt") << match;
    EXPECT_EQ(GatewayCounts(text), "routes: 1 exact, 0 narrowed, 0 guarded, 0 refused") << match;
  }
}

TEST(GatewayApi, ABackendOfManyIsTheOneWithTheMostCalls) {
  const std::string text = GatewayRoute(
      "HTTPRoute",
      "hostnames: [cart.example], rules: [{retry: {attempts: 1}, backendRefs: [{name: a, port: 1}, "
      "{name: b, port: 1, weight: 9}]}]");
  EXPECT_EQ(GatewayCall(text, "/a.A/Get"), "b, 2 attempts");
  EXPECT_EQ(GatewayCounts(text), "routes: 0 exact, 1 narrowed, 0 guarded, 0 refused");
}

TEST(GatewayApi, ABackendOfAnotherKindIsAnUpstreamToBeNamed) {
  const std::string text =
      GatewayRoute("GRPCRoute",
                   "hostnames: [cart.example], rules: [{backendRefs: [{group: g, kind: Pool, name: "
                   "a}]}]");
  EXPECT_EQ(GatewayCall(text, "/a.A/Get"), "a, 1 attempt");
  EXPECT_THAT(CommentsOf(FromGateway(text)),
              HasSubstr("Backends of the kind \"Pool\" are not read"));
  EXPECT_THAT(
      GatewayUpstreams(GatewayRoute(
          "GRPCRoute",
          "rules: [{backendRefs: [{group: multicluster.x-k8s.io, kind: ServiceImport, name: "
          "a, port: 5}]}]")),
      HasSubstr("endpoints: [\"dns:a.shop.svc.clusterset.local:5\"]"));
}

TEST(GatewayApi, AnswersOfTheGatewayItselfReachNoService) {
  for (const std::string& text :
       {Grpc("filters: [{type: RequestRedirect}]"),
        GatewayRoute("GRPCRoute", "hostnames: [cart.example], rules: [{backendRefs: []}]")}) {
    EXPECT_EQ(GatewayCall(text, "/a.A/Get"), "nowhere, 1 attempt") << text;
  }
  EXPECT_THAT(FaultsOfGateway(Http("filters: [{type: ExternalAuth}]")),
              HasSubstr("where its calls go is not known: the filter \"ExternalAuth\" has no"));
}

TEST(GatewayApi, TimeoutsBoundTheCallAndItsAttempts) {
  EXPECT_EQ(GatewayPolicies(Http("timeouts: {request: 1m30s, backendRequest: 500ms}")),
            "  - name: r\n"
            "    timeout: 1m30s\n"
            "    retry:\n"
            "      max_attempts: 1\n"
            "      attempt_timeout: 500ms\n");
  EXPECT_THAT(CommentsOf(FromGateway(Http("timeouts: {request: 0s}"))),
              HasSubstr("timeouts.request is 0s, which means none."));
}

TEST(GatewayApi, AttemptsAreRetries) {
  EXPECT_EQ(
      GatewayPolicies(Http("timeouts: {backendRequest: 1s}, retry: {attempts: 2, codes: [503, "
                           "500], backoff: 100ms}")),
      "  - name: r\n"
      "    retry:\n"
      "      max_attempts: 3\n"
      "      codes: []\n"
      "      failures: [refused, connect, reset, timeout]\n"
      "      http: [503, 500]\n"
      "      attempt_timeout: 1s\n"
      "      backoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: {add: 100ms}}\n");
  EXPECT_EQ(GatewayCall(Http("retry: {attempts: 0, codes: [503]}"), "/a.A/Get"), "cart, 1 attempt");
  EXPECT_EQ(GatewayCall(Http("timeouts: {request: 1s}"), "/a.A/Get"), "cart, 1 attempt");
  EXPECT_THAT(GatewayPolicies(Http("retry: {codes: [503]}")), Not(HasSubstr("max_attempts")));
}

TEST(GatewayApi, ABudgetHoldsForEveryRouteToItsService) {
  EXPECT_EQ(
      GatewayPolicies(Grpc("") + "---\n" +
                      Traffic("{budget: {percent: 25, interval: 20s}, minRetryRate: {count: 3, "
                              "interval: 2s}}")),
      "  - name: r\n"
      "    retry:\n"
      "      max_attempts: 1\n"
      "      budget: {ratio: 0.25, window: 20s, floor: {per_second: 1.5}}\n");
  EXPECT_THAT(GatewayPolicies(Grpc("") + "---\n" + Traffic("{}")),
              HasSubstr("budget: {ratio: 0.2, window: 10s, floor: {per_second: 10}}\n"));
}

TEST(GatewayApi, ABudgetOfAServiceWithoutRouteGetsOne) {
  const std::string yaml = FromGateway(Traffic("{budget: {percent: 5}}"));
  EXPECT_THAT(ValuesOf(yaml, "routes"), HasSubstr("{authority: cart.shop}"));
  EXPECT_THAT(ValuesOf(yaml, "upstreams"),
              HasSubstr("  - name: cart\n    endpoints: [\"authority:\"]\n"));
  EXPECT_THAT(ValuesOf(yaml, "policies"), HasSubstr("ratio: 0.05"));
}

TEST(GatewayApi, TlsHoldsForTheConnectionsToItsService) {
  EXPECT_THAT(GatewayUpstreams(Grpc("") + "---\n" +
                               Tls("{wellKnownCACertificates: System, hostname: cart.example, "
                                   "subjectAltNames: [{type: URI, uri: spiffe://shop/cart}]}")),
              HasSubstr("    tls: {ca: system, server_name: cart.example, subject_alt_names: "
                        "[\"uri:spiffe://shop/cart\"]}\n"));
  const std::string yaml = FromGateway(
      Grpc("") + "---\n" +
      Tls("{caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}], hostname: cart.example}"));
  EXPECT_THAT(yaml, HasSubstr("    tls: {ca: system, server_name: cart.example}\n"));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("caCertificateRefs: mount ConfigMap \"ca\""));
}

TEST(GatewayApi, AnAnnotationNamesAPolicyOfTheFile) {
  const std::string grpc =
      GatewayRoute("GRPCRoute", GatewayRule(""), ", annotations: {levee.dev/policy: patient}");
  EXPECT_THAT(CommentsOf(FromGateway(grpc)),
              HasSubstr("levee.dev/policy: \"patient\" is no policy of this file. Define it and "
                        "name it here in place of no-retries."));
  EXPECT_THAT(GatewayRoutes(grpc), Not(HasSubstr("patient")));
  std::string http =
      GatewayRoute("HTTPRoute",
                   "hostnames: [a.example], rules: [{backendRefs: [{name: a, port: 1}], "
                   "timeouts: {request: 1s}}]");
  http.replace(http.find("name: r"), 7, "name: patient");
  EXPECT_THAT(GatewayRoutes(grpc + "---\n" + http),
              HasSubstr("{authority: cart.example}\n    upstream: cart\n    policy: patient\n"));
}

TEST(GatewayApi, NamesOfObjectsHaveUpTo253Characters) {
  const std::string text =
      "apiVersion: gateway.networking.k8s.io/v1\n"
      "kind: HTTPRoute\n"
      "metadata: {name: "
      "checkout-payments-authorisations-retry-policy-for-the-european-region-v2, namespace: shop}\n"
      "spec:\n"
      "  parentRefs: [{group: \"\", kind: Service, name: checkout, port: 50051}]\n"
      "  rules:\n"
      "  - backendRefs: [{name: checkout, port: 50051}]\n"
      "    timeouts: {request: 3s}\n"
      "    retry: {attempts: 2, backoff: 50ms}\n";
  EXPECT_EQ(CallIn(FromGateway(text), "checkout.shop:50051", "/shop.Checkout/Pay"),
            "checkout, 3 attempts");
  EXPECT_EQ(GatewayCounts(text), "routes: 1 exact, 0 narrowed, 0 guarded, 0 refused");
}

TEST(GatewayApi, NamesThatKubernetesWouldRefuseAreFaults) {
  const auto to = [](const std::string& service) {
    return GatewayRoute("GRPCRoute", "rules: [{backendRefs: [{name: " + service + ", port: 1}]}]");
  };
  const auto with = [&](const std::string& object) {
    std::string route = to("a");
    return route.replace(route.find("name: r,"), 8, "name: " + object + ",");
  };
  for (const std::string& name : {std::string(253, 'a'), std::string("a.b.3"), std::string("1")}) {
    EXPECT_EQ(FaultsOfGateway(with(name)), "") << name;
  }
  for (const std::string& name :
       {std::string(254, 'a'), std::string("a..b"), std::string("-a"), std::string("a:b")}) {
    EXPECT_THAT(FaultsOfGateway(with(name)), HasSubstr("is not a name")) << name;
  }
  EXPECT_EQ(FaultsOfGateway(to(std::string(63, 's'))), "");
  EXPECT_THAT(FaultsOfGateway(to(std::string(64, 's'))), HasSubstr("is not a name"));
  EXPECT_THAT(FaultsOfGateway(to("a.b")), HasSubstr("is not a name"));
}

TEST(GatewayApi, ANamespaceThatIsANumberHasServices) {
  EXPECT_THAT(GatewayUpstreams(GatewayRoute(
                  "GRPCRoute", "rules: [{backendRefs: [{name: a, namespace: '24', port: 5}]}]")),
              HasSubstr("endpoints: [\"dns:a.24.svc:5\"]"));
}

TEST(GatewayApi, ObjectsThatAreNotReadMayHaveNamesOfOtherForms) {
  EXPECT_THAT(
      CommentsOf(FromGateway(Grpc("") + "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: "
                                        "ClusterRole, metadata: {name: 'system:node'}}\n")),
      HasSubstr("Not read: ClusterRole default/system:node, line 6"));
}

TEST(GatewayApi, ListsAreReadAsKubectlPrintsThem) {
  const std::string item =
      "{apiVersion: gateway.networking.k8s.io/v1, kind: GRPCRoute, metadata: {name: r}, spec: "
      "{rules: [{backendRefs: [{name: a, port: 1}]}]}, status: {parents: []}}";
  for (const std::string& text :
       {"{apiVersion: v1, kind: List, items: [" + item + "]}",
        "{apiVersion: v1, kind: GRPCRouteList, items: [" + item + "]}", "---\n---\n" + item}) {
    EXPECT_THAT(GatewayUpstreams(text), HasSubstr("dns:a.default:1")) << text;
  }
}

TEST(GatewayApi, SeveralFilesAreOneInput) {
  const std::string yaml =
      Checked(ImportGatewayApi({{"a", Grpc("")}, {"b", Traffic("{budget: {percent: 7}}")}}));
  EXPECT_THAT(yaml, HasSubstr("ratio: 0.07"));
  EXPECT_EQ(FormatFaults(ImportGatewayApi({{"a", Grpc("")}, {"b", Http("retry: 7")}}).faults),
            "b:4:90: spec.rules[0].retry: is \"7\"; write a mapping");
}

TEST(GatewayApi, WhatIsNotReadIsSaid) {
  const std::string comments = CommentsOf(
      FromGateway(Grpc("sessionPersistence: {}, filters: [{type: RequestMirror}], colour: red") +
                  "---\n{apiVersion: v1, kind: Service, metadata: {name: s}}\n"
                  "---\n{apiVersion: other/v1, kind: HTTPRoute, metadata: {name: o}}\n"));
  EXPECT_THAT(comments, HasSubstr("Not read: Service default/s, line 6 (core)."));
  EXPECT_THAT(comments, HasSubstr("Not read: HTTPRoute default/o, line 8 (other)."));
  EXPECT_THAT(comments, HasSubstr("sessionPersistence has no equivalent."));
  EXPECT_THAT(comments, HasSubstr("Filters have no equivalent: \"RequestMirror\"."));
  EXPECT_THAT(comments, HasSubstr("Not read in spec.rules[0]: colour."));
}

TEST(GatewayApi, AnnotationsOfLinkerdAreSaidToBeThose) {
  EXPECT_THAT(
      CommentsOf(FromGateway(GatewayRoute("GRPCRoute", GatewayRule(""),
                                          ", annotations: {retry.linkerd.io/limit: '2'}"))),
      HasSubstr("Not read: retry.linkerd.io/limit of GRPCRoute shop/r, line 1; levee import "
                "linkerd reads it."));
}

TEST(GatewayApi, WrongValuesAreFaultsWithTheirPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {Http("timeouts: {request: 1.5s}"),
       "f:4:103: spec.rules[0].timeouts.request: \"1.5s\" is not a duration; they are whole "
       "numbers "
       "of "
       "h, m, s and ms, as in 1m30s (GEP-2257)"},
      {Http("timeouts: {request: 1s, backendRequest: 2s}"),
       "f:4:123: spec.rules[0].timeouts.backendRequest: must not be longer than request"},
      {Http("retry: {codes: [200]}"),
       "f:4:99: spec.rules[0].retry.codes[0]: 200 is no status from 400 to 599"},
      {"{kind: HTTPRoute, metadata: {}}", "f:1:1: apiVersion: must be given"},
      {"{apiVersion: v1}", "f:1:1: kind: must be given: this is no object of Kubernetes"},
      {"{apiVersion: v1, kind: Pod}",
       "f: has nothing to import; wanted: GRPCRoute, HTTPRoute, BackendTLSPolicy, "
       "XBackendTrafficPolicy, BackendTrafficPolicy, TrafficPolicy"},
  };
  for (const auto& [text, fault] : cases) EXPECT_EQ(FaultsOfGateway(text), fault);
  for (const std::string& text :
       {GatewayRoute("GRPCRoute", "rules: [{backendRefs: [{name: a}]}]"),
        GatewayRoute("GRPCRoute", "hostnames: ['*'], rules: []"), Http("retry: {attempts: -1}"),
        Http("matches: [{path: {type: Glob, value: /}}]"),
        Grpc("matches: [{method: {service: a/b}}]"), Traffic("{budget: {percent: 101}}"),
        Traffic("{minRetryRate: {interval: 0s}}"), Tls("{hostname: a.example}"),
        Tls("{wellKnownCACertificates: System}"), std::string("&a {kind: List, items: [*a]}"),
        std::string(","), std::string("a: b: c"), std::string("")}) {
    EXPECT_NE(FaultsOfGateway(text), "") << text;
  }
}

}  // namespace
}  // namespace levee
