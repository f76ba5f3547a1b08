// SPDX-License-Identifier: Apache-2.0
// `routes[].shadow`.
#include <string>

#include "config/faults_of.h"

namespace levee {
namespace {

std::string WithRoute(const std::string& route) {
  return "upstreams: [{name: cart, endpoints: [\"127.0.0.1:3\"]}]\n"
         "policies: [{name: default}, {name: candidate, retry: {max_attempts: 5}}]\n"
         "routes: [" +
         route + "]\n";
}

TEST(ShadowConfig, ARouteHasNoneUnlessItAsks) {
  const auto snapshot = SnapshotOf(WithRoute("{upstream: cart}, {upstream: cart, shadow: none}"));
  for (const Route& route : snapshot->routes.routes()) EXPECT_FALSE(route.shadow.has_value());
}

TEST(ShadowConfig, ItIsAPolicyOfTheFile) {
  const auto snapshot = SnapshotOf(WithRoute("{upstream: cart, shadow: candidate}"));
  ASSERT_EQ(snapshot->routes.routes().size(), 1u);
  const Route& route = snapshot->routes.routes()[0];
  ASSERT_TRUE(route.shadow.has_value());
  EXPECT_EQ(snapshot->policies[static_cast<size_t>(*route.shadow)].name, "candidate");
  EXPECT_EQ(snapshot->policies[static_cast<size_t>(route.policy)].name, "default");
}

TEST(ShadowConfig, AnUnknownPolicyIsRefused) {
  EXPECT_EQ(FaultsOf(WithRoute("{upstream: cart, shadow: candidat}")),
            "f:3:35: LV301 routes[0].shadow: there is no policy named \"candidat\"; did you mean "
            "candidate?");
}

TEST(ShadowConfig, TheRoutesOwnPolicyIsRefused) {
  EXPECT_EQ(
      FaultsOf(WithRoute("{upstream: cart, shadow: default}")),
      "f:3:35: LV340 routes[0].shadow: default is the route's own policy, with which it would "
      "always agree; name another policy, or leave it out");
}

TEST(ShadowConfig, ACallToTheApplicationHasNone) {
  const std::string listener =
      "listeners: [{name: in, direction: inbound, address: \"127.0.0.1:4\"}]\n"
      "upstreams: [{name: app, endpoints: [\"127.0.0.1:3\"]}]\n"
      "policies: [{name: default, guard: {}}, {name: candidate, guard: {}}]\n";
  EXPECT_EQ(
      FaultsOf(listener + "routes: [{match: {listener: in}, upstream: app, shadow: candidate}]\n"),
      "f:4:57: LV340 routes[0].shadow: a shadow decides about retries, and calls to the "
      "application are not retried here; leave it out");
}

TEST(ShadowConfig, APolicyThatIsOnlyAShadowIsInUse) {
  const CheckedConfig checked =
      CheckConfig({{"f", WithRoute("{upstream: cart, shadow: candidate}")}}, std::nullopt);
  EXPECT_EQ(FormatFaults(checked.warnings), "");
}

}  // namespace
}  // namespace levee
