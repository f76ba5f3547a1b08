// SPDX-License-Identifier: Apache-2.0
// What `levee simulate` says of the scenarios that it is given.
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lab/scenario_fixture.h"
#include "lab/scenario_sidecars.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string Faults(const std::string& added) {
  return ScenarioFaults(absl::StrCat(kWebAndCart, added));
}

TEST(ScenarioLoad, ReadsWhatTheScenarioSays) {
  const Scenario scenario = ScenarioOf(
      "duration: 1m\n"
      "clients:\n"
      "  - {name: web, instances: 20, sidecar: none, calls: cart/Add, deadline: 3s, retries: 2,\n"
      "     load: {poisson: 40/s, steps: [{at: 20s, for: 5s, rate: 80/s}]}}\n"
      "services:\n"
      "  - {name: cart, instances: 3, slots: 8, time: {lognormal: {p50: 12ms, p99: 80ms}},\n"
      "     queue: 200, abandoned: drop, calls: [bank/Charge], sidecar: none}\n"
      "  - {name: bank, slots: 20, time: {exponential: 5ms}}\n"
      "faults:\n"
      "  - {at: 30s, for: 5s, service: cart, instance: 2, fail: {code: 8, share: 0.3}}\n"
      "expect:\n"
      "  - {success: '>= 99%', of: web, before: 20s}\n"
      "compare: [no-retries, this]\n");
  ASSERT_EQ(scenario.clients.size(), 1u);
  const ScenarioClient& web = scenario.clients[0];
  EXPECT_EQ(web.instances, 20);
  EXPECT_EQ(web.RateAt(absl::Seconds(19)), 40);
  EXPECT_EQ(web.RateAt(absl::Seconds(20)), 80);
  EXPECT_EQ(web.RateAt(absl::Seconds(25)), 40);
  EXPECT_EQ(web.deadline, absl::Seconds(3));
  ASSERT_EQ(scenario.services.size(), 2u);
  EXPECT_EQ(scenario.services[0].queue, 200);
  EXPECT_TRUE(scenario.services[0].drops_abandoned);
  EXPECT_EQ(scenario.services[0].calls.at(0).service, 1);
  EXPECT_EQ(scenario.services[1].queue, ScenarioService::kNoBound);
  EXPECT_EQ(scenario.faults.at(0).fail_code, StatusCode::kResourceExhausted);
  EXPECT_EQ(scenario.expect.at(0).text, "success >= 99% of web before 20s");
  EXPECT_EQ(scenario.expect.at(0).bound, 0.99);
  EXPECT_EQ(scenario.Trouble()->begin, absl::Seconds(20));
  EXPECT_EQ(scenario.Trouble()->end, absl::Seconds(35));
}

TEST(ScenarioLoad, L7_AnUnknownFieldIsNamedWithItsPlaceAndASuggestion) {
  EXPECT_THAT(Faults("fault: []\n"),
              AllOf(StartsWith("s:4:1: LV105 fault: unknown field; did you mean faults?")));
  EXPECT_THAT(Faults("faults: [{at: 1s, for: 1s, servce: cart, capacity: 0}]\n"),
              HasSubstr("s:4:28: LV105 faults[0].servce: unknown field; did you mean service?"));
  EXPECT_THAT(Faults("compare: [no-retrys]\n"), HasSubstr("did you mean no-retries?"));
}

TEST(ScenarioLoad, L7_ANameThatRefersToNothingIsNamedWithItsPlaceAndASuggestion) {
  EXPECT_THAT(Faults("faults: [{at: 1s, for: 1s, service: card, capacity: 0}]\n"),
              StartsWith("s:4:37: LV301 faults[0].service: there is no service \"card\"; did you "
                         "mean cart?"));
  EXPECT_THAT(Faults("expect: [{success: '> 9%', of: wep}]\n"),
              StartsWith("s:4:32: LV301 expect[0].of: there is no client \"wep\"; did you mean "
                         "web?"));
  EXPECT_THAT(Faults("expect: [{amplification: '< 2', of: web}]\n"),
              HasSubstr("there is no service \"web\"; there are: cart"));
}

TEST(ScenarioLoad, L7_WhatIsMissingIsNamed) {
  EXPECT_THAT(Faults("faults: [{at: 1s, for: 1s, service: cart}]\n"),
              StartsWith("s:4:10: LV110 faults[0]: does not say what goes wrong; give capacity, "));
  EXPECT_THAT(Faults("expect: [{of: web}]\n"), HasSubstr("LV110 expect[0]: has no figure; say "));
  EXPECT_THAT(ScenarioFaults("{}"),
              AllOf(HasSubstr("duration: is missing"), HasSubstr("clients: is missing"),
                    HasSubstr("services: is missing")));
  const std::string bare = ScenarioFaults(
      "duration: 1s\n"
      "clients: [{name: web, calls: cart/Add}]\n"
      "services: [{name: cart, slots: 1}]\n");
  EXPECT_THAT(bare, AllOf(HasSubstr("s:2:11: LV110 clients[0].load: has no rate; say {poisson: "),
                          HasSubstr("s:3:12: LV110 services[0].time: is missing; say 5ms, ")));
}

TEST(ScenarioLoad, L7_AMisspeltFieldIsOneFault) {
  EXPECT_EQ(Faults("expect: [{sucess: '> 9%'}]\n"),
            "s:4:11: LV105 expect[0].sucess: unknown field; did you mean success?");
  EXPECT_EQ(Faults("faults: [{at: 1s, for: 1s, service: cart, capasity: 0}]\n"),
            "s:4:43: LV105 faults[0].capasity: unknown field; did you mean capacity?");
  EXPECT_EQ(ScenarioFaults("duration: 1s\n"
                           "clients: [{name: web, calls: cart/Add, load: {poison: 1/s}}]\n"
                           "services: [{name: cart, slots: 1, time: {exponentiell: 1s}}]\n"),
            "s:2:47: LV105 clients[0].load.poison: unknown field; did you mean poisson?\n"
            "s:3:42: LV105 services[0].time.exponentiell: unknown field; did you mean "
            "exponential?");
}

TEST(ScenarioLoad, L7_WhatBeginsWhenTheScenarioHasEndedIsRefused) {
  EXPECT_EQ(Faults("faults: [{at: 1h, for: 1s, service: cart, capacity: 0}]\n"),
            "s:4:15: LV201 faults[0].at: 1h is too late; the scenario ends at 1m");
  EXPECT_EQ(ScenarioFaults("duration: 90s\n"
                           "clients: [{name: web, calls: cart/Add,\n"
                           "  load: {even: 1/s, steps: [{at: 90s, for: 1s, rate: 2/s}]}}]\n"
                           "services: [{name: cart, slots: 1, time: 1ms}]\n"),
            "s:3:34: LV201 clients[0].load.steps[0].at: 1m30s is too late; the scenario ends at "
            "1m30s");
}

TEST(ScenarioLoad, L7_ABoundThatIsNoneIsRefusedWithAnExample) {
  EXPECT_EQ(Faults("expect: [{recovery: '<= 5'}]\n"),
            "s:4:21: LV202 expect[0].recovery: \"<= 5\" is no bound; say \"<= 5s\"");
  EXPECT_THAT(Faults("expect: [{success: 99%}]\n"), HasSubstr("is no bound; say \">= 99%\""));
  EXPECT_THAT(Faults("expect: [{goodput: '> 5/s', of: web}]\n"), HasSubstr("means nothing here"));
  EXPECT_THAT(Faults("expect: [{recovery: '< 5s', before: 2s}]\n"),
              HasSubstr("has no effect without success"));
}

TEST(ScenarioLoad, L7_WhatCannotBeIsRefused) {
  EXPECT_THAT(Faults("faults: [{at: 1s, for: 1s, service: cart, instance: 1, refuse: true}]\n"),
              HasSubstr("1 is too large; cart has 1, counted from 0"));
  EXPECT_THAT(Faults("faults: [{at: 1s, for: 1s, service: cart, capacity: 0, delay: 1s}]\n"),
              HasSubstr("excludes capacity, which is given too"));
  EXPECT_THAT(ScenarioFaults("duration: 1s\n"
                             "clients: [{name: web, calls: a/B, load: {even: 1/s}}]\n"
                             "services:\n"
                             "  - {name: a, slots: 1, time: 1ms, calls: [b/C]}\n"
                             "  - {name: b, slots: 1, time: 1ms, calls: [a/B]}\n"),
              AllOf(HasSubstr("s:4:36: LV301 services[0].calls: lead back to the service itself"),
                    HasSubstr("services[1].calls: lead back")));
  EXPECT_THAT(
      ScenarioFaults("duration: 1s\n"
                     "clients: [{name: web, calls: cart, load: {even: 1/s}}]\n"
                     "services: [{name: cart, slots: 1, time: {lognormal: {p50: 2s, p99: 1s}}}]\n"),
      AllOf(HasSubstr("\"cart\" is no SERVICE/METHOD; say checkout/Pay"),
            HasSubstr("services[0].time.lognormal.p99: 1s is too small")));
}

TEST(ScenarioLoad, L7_APolicyFileIsFoundBesideTheScenarioAndItsFaultsAreNamed) {
  const TemporaryFolder folder;
  folder.Write("good.yaml", "policies: [{name: default, timeout: 7s}]\n");
  folder.Write("bad.yaml", "limit: {}\n");
  const auto check = [&folder](const std::string& sidecar) {
    return CheckScenario(
        {folder.Path("s.yaml"),
         absl::StrCat("duration: 1s\n"
                      "clients:\n"
                      "  - {name: web, calls: cart/Add, load: {even: 1/s}, sidecar: ",
                      sidecar, "}\nservices: [{name: cart, slots: 1, time: 1ms}]\n")},
        nullptr);
  };
  const CheckedScenario good = check("good.yaml");
  EXPECT_EQ(FormatFaults(good.faults), "");
  EXPECT_EQ(good.scenario.clients.at(0).call.policy->timeout, absl::Seconds(7));
  EXPECT_THAT(FormatFaults(check("bad.yaml").faults),
              AllOf(HasSubstr("s.yaml:3:62: LV401 clients[0].sidecar: "),
                    HasSubstr("bad.yaml:1:1: LV105 limit: unknown field; did you mean limits?")));
  EXPECT_THAT(FormatFaults(check("gone.yaml").faults), HasSubstr("No such file or directory"));
}

// The service has a policy file with an inbound listener.
constexpr char kGuarding[] =
    "listeners: [{name: in, address: '0.0.0.0:9450', direction: inbound},\n"
    "            {name: out, address: '127.0.0.1:9460'}]\n"
    "upstreams: [{name: app, endpoints: ['127.0.0.1:50051']},\n"
    "            {name: any, endpoints: ['authority:']}]\n"
    "routes: [{match: {listener: in, method: '/cart/Free'}, upstream: app, policy: free},\n"
    "         {match: {listener: in}, upstream: app, policy: protect}, {upstream: any}]\n"
    "policies: [{name: free, retry: {max_attempts: 1}},\n"
    "           {name: protect, guard: {concurrency: {limit: 7}}}, {name: default}]\n";

// Two policies behind an inbound listener, and these routes to one upstream.
std::shared_ptr<const Snapshot> ServiceWith(std::vector<Route> routes) {
  auto service = std::make_shared<Snapshot>();
  service->listeners.resize(1);
  service->listeners[0].direction = Direction::kInbound;
  service->policies.resize(2);
  service->upstreams.resize(1);
  service->routes = RouteTable(std::move(routes));
  return service;
}

TEST(ScenarioLoad, CallsTakeTheRoutesOfTheirCallers) {
  Route of_shop;
  of_shop.peer = "spiffe://shop/*";
  of_shop.listener = {.index = 0, .direction = Direction::kInbound};
  Route rest = of_shop;
  rest.peer = "*";
  rest.policy = 1;
  const auto service = ServiceWith({of_shop, rest});
  const auto policy_of = [&](const std::string& caller) {
    ScenarioCall call =
        ScenarioOf("duration: 1s\nclients: [{name: web, calls: cart/Add, load: {even: 1/s}" +
                   caller + "}]\nservices: [{name: cart, slots: 1, time: 1ms}]\n")
            .clients.at(0)
            .call;
    ScenarioSidecars::RouteIn(service, "cart", call);
    return call.inbound_policy - service->policies.data();
  };
  EXPECT_EQ(policy_of(", peer: 'spiffe://shop/web'"), 0);
  EXPECT_EQ(policy_of(", peer: 'spiffe://bank/web'"), 1);
  EXPECT_EQ(policy_of(""), 1);
}

TEST(ScenarioLoad, CallsTakeTheRoutesOfTheirHeadersUnlessTheseDenyThem) {
  Route gold;
  gold.headers = {{.name = "x-tenant", .test = HeaderTest::kExact, .text = "gold"}};
  gold.listener = {.index = 0, .direction = Direction::kInbound};
  Route rest = gold;
  rest.headers.clear();
  rest.deny = true;
  const auto service = ServiceWith({gold, rest});
  const auto taken_in = [&](const std::string& headers) {
    ScenarioCall call =
        ScenarioOf("duration: 1s\nclients: [{name: web, calls: cart/Add, load: {even: 1/s}" +
                   headers + "}]\nservices: [{name: cart, slots: 1, time: 1ms}]\n")
            .clients.at(0)
            .call;
    return ScenarioSidecars::RouteIn(service, "cart", call);
  };
  EXPECT_TRUE(taken_in(", headers: [{name: X-Tenant, value: gold}]"));
  EXPECT_FALSE(taken_in(", headers: [{name: x-tenant, value: silver}]"));
  EXPECT_FALSE(taken_in(""));
}

TEST(ScenarioLoad, AServiceHasTheGuardOfItsPolicyFileOrOfTheScenario) {
  const TemporaryFolder folder;
  folder.Write("cart.yaml", kGuarding);
  const auto limit = [&folder](const std::string& method, const std::string& service) {
    const CheckedScenario checked = CheckScenario(
        {folder.Path("s.yaml"),
         absl::StrCat("duration: 1s\n"
                      "clients: [{name: web, calls: cart/",
                      method, ", load: {even: 1/s}}]\nservices: [{name: cart, slots: 1, time: 1ms",
                      service, "}]\n")},
        nullptr);
    EXPECT_EQ(FormatFaults(checked.faults), "");
    const CallPolicy* const inbound = checked.scenario.clients.at(0).call.inbound_policy;
    if (inbound == nullptr) return -1;
    return inbound->guard.has_value() ? inbound->guard->concurrency.fixed : 0;
  };
  EXPECT_EQ(limit("Add", ", sidecar: cart.yaml"), 7);
  EXPECT_EQ(limit("Free", ", sidecar: cart.yaml"), 0);
  EXPECT_EQ(limit("Add", ", sidecar: cart.yaml, guard: none"), -1);
  EXPECT_EQ(limit("Add", ", sidecar: cart.yaml, guard: {concurrency: {limit: 9}}"), 9);
  EXPECT_EQ(limit("Add", ", sidecar: none, guard: {concurrency: {limit: 9}}"), 9);
  EXPECT_EQ(limit("Add", ""), -1);
}

TEST(ScenarioLoad, L7_TheFaultsOfAGuardAreThoseOfAPolicy) {
  const auto faults = [](const std::string& guard) {
    return ScenarioFaults(
        absl::StrCat("duration: 1s\n"
                     "clients: [{name: web, calls: a/B, load: {even: 1/s}}]\n"
                     "services: [{name: a, slots: 1, time: 1ms, guard: ",
                     guard, "}]\n"));
  };
  EXPECT_THAT(faults("{concurrency: {limit: five}}"),
              StartsWith("s:3:72: LV219 services[0].guard.concurrency.limit: "));
  EXPECT_THAT(faults("{concurrency: {initial: 5, max: 4}}"),
              StartsWith("s:3:74: LV317 services[0].guard.concurrency.initial: "));
  EXPECT_THAT(faults("{concurency: {limit: 5}}"), HasSubstr("did you mean concurrency?"));
}

TEST(ScenarioLoad, AConfigurationTakesThePlaceOfEverySidecarButNotOfNone) {
  const auto config = *ParseConfig("f", "policies: [{name: default, timeout: 9s}]\n");
  const CheckedScenario checked =
      CheckScenario({"s",
                     "duration: 1s\n"
                     "clients:\n"
                     "  - {name: web, calls: cart/Add, load: {even: 1/s}, sidecar: nowhere.yaml}\n"
                     "  - {name: job, calls: cart/Add, load: {even: 1/s}, sidecar: none}\n"
                     "services: [{name: cart, slots: 1, time: 1ms, calls: [bank/Pay]},\n"
                     "           {name: bank, slots: 1, time: 1ms}]\n"},
                    config);
  EXPECT_EQ(FormatFaults(checked.faults), "");
  EXPECT_EQ(checked.scenario.clients.at(0).call.policy->timeout, absl::Seconds(9));
  EXPECT_EQ(checked.scenario.services.at(0).calls.at(0).policy->timeout, absl::Seconds(9));
  EXPECT_EQ(checked.scenario.clients.at(1).call.sidecar, nullptr);
  EXPECT_EQ(checked.scenario.clients.at(1).call.policy->timeout, absl::InfiniteDuration());
}

}  // namespace
}  // namespace levee
