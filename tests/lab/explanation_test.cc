// SPDX-License-Identifier: Apache-2.0
// What `levee explain` answers: the route, where values come from, and what follows from them.
#include "lab/explanation.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "lab/explain_json.h"
#include "lab/explain_text.h"
#include "lab/lab_fixture.h"
#include "lab/route_trace.h"

namespace levee {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kShop[] =
    "listeners:\n"
    "  - {name: out, address: 127.0.0.1:1}\n"
    "  - {name: in, address: 127.0.0.1:2, direction: inbound}\n"
    "upstreams:\n"
    "  - {name: cart, endpoints: [\"10.0.0.7:50051\"]}\n"
    "  - {name: app, endpoints: [\"127.0.0.1:50051\"]}\n"
    "routes:\n"
    "  - {match: {listener: in}, upstream: app, policy: front}\n"
    "  - {match: {authority: \"cart.shop:*\", method: \"/shop.Cart/*\"}, upstream: cart}\n"
    "  - {upstream: cart, policy: patient}\n"
    "policies:\n"
    "  - name: patient\n"
    "    timeout: 5s\n"
    "    retry:\n"
    "      max_attempts: 4\n"
    "      backoff: {preset: google-cloud, max: 8s}\n"
    "  - name: front\n"
    "    guard: {concurrency: {limit: 20}, queue: {max: 5}}\n";

std::string OriginOf(const Explanation& explanation, const std::string& path) {
  for (const EffectiveValue& value : explanation.values) {
    if (value.path == path) return value.value + " from " + value.from;
  }
  return "no value";
}

const std::vector<std::string>& SectionOf(const Explanation& explanation,
                                          const std::string& title) {
  for (const ExplainedSection& section : explanation.sections) {
    if (section.title == title) return section.sentences;
  }
  static const std::vector<std::string> none;
  return none;
}

TEST(Explanation, EachRouteBeforeTheCallsOwnSaysWhyItIsNot) {
  const Explanation explanation =
      ExplanationOf(kShop, {.authority = "bank.shop:443", .method = "shop.Cart/Add"});
  ASSERT_EQ(explanation.routes.size(), 3u);
  EXPECT_EQ(explanation.routes[0].because, "it serves listener \"in\", not \"out\"");
  EXPECT_EQ(explanation.routes[1].because,
            "its authority \"cart.shop:*\" does not match \"bank.shop:443\"");
  EXPECT_EQ(explanation.routes[1].from, "f:9");
  EXPECT_EQ(explanation.routes[2].because, "");
  EXPECT_TRUE(explanation.routed);
  EXPECT_EQ(explanation.policy, "patient");
  EXPECT_EQ(explanation.upstream, "cart");
}

TEST(Explanation, ARouteForOtherCallersSaysSo) {
  Route route;
  route.peer = "spiffe://shop/*";
  Snapshot snapshot;
  snapshot.routes = RouteTable({route});
  const std::optional<std::string> unsaid;
  const std::vector<RouteStep> steps = TraceRoutes(snapshot, {.listener = {},
                                                              .authority = unsaid,
                                                              .path = unsaid,
                                                              .peer = "spiffe://bank/web",
                                                              .headers = std::nullopt});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].serves, "peer \"spiffe://shop/*\"");
  EXPECT_EQ(steps[0].because, "its peer \"spiffe://shop/*\" does not match \"spiffe://bank/web\"");
}

TEST(Explanation, ARouteForOtherHeadersNamesTheOneThatTheCallLacks) {
  const std::string text =
      "listeners: [{name: out, address: \"127.0.0.1:1\"}]\n"
      "routes:\n"
      "- {upstream: anywhere, match: {headers: [{name: x-a, present: true},"
      " {name: x-tenant, prefix: go}]}}\n"
      "- {upstream: anywhere}\n";
  const auto because = [&](ExplainQuestion question) {
    return ExplanationOf(text, std::move(question)).routes[0].because;
  };
  EXPECT_EQ(because({}), "it asks for header x-a present, and the call has none");
  EXPECT_EQ(because({.headers = {{"x-a", "1"}, {"x-tenant", "silver"}}}),
            "it asks for header x-tenant prefix \"go\", and the call has \"silver\"");
  EXPECT_EQ(because({.headers = {{"x-a", "1"}, {"x-tenant", "gold"}}}), "");
  EXPECT_EQ(ExplanationOf(text).routes[0].serves, "headers x-a present, x-tenant prefix \"go\"");
}

TEST(Explanation, ASplitNamesItsUpstreamsAndHowCallsAreDrawn) {
  const Explanation explanation = ExplanationOf(
      "upstreams: [{name: a, endpoints: [\"127.0.0.1:1\"]}, {name: b, endpoints: "
      "[\"127.0.0.1:2\"]}]\n"
      "routes: [{split: [{upstream: a, weight: 5}, {upstream: b, weight: 95}], timeout: 2s}]\n");
  EXPECT_EQ(explanation.Fate(), "upstream a or b, policy default");
  EXPECT_THAT(SectionOf(explanation, "split"),
              Contains("calls are divided by weights: a 5, b 95; all attempts of a call go to one "
                       "upstream"));
  EXPECT_THAT(SectionOf(explanation, "timeout"),
              ElementsAre("the route ends unary calls after 2s, before the policy does"));
}

TEST(Explanation, ADeniedCallHasAnAnswerAndNoPolicy) {
  const Explanation explanation = ExplanationOf(
      "listeners: [{name: in, address: \"127.0.0.1:1\", direction: inbound}]\n"
      "routes: [{match: {listener: in}, deny: true}]\n",
      {.listener = "in"});
  EXPECT_TRUE(explanation.routed && explanation.denied);
  EXPECT_EQ(explanation.policy, "");
  EXPECT_EQ(explanation.Fate(), "the route denies the call: it is answered PERMISSION_DENIED");
  EXPECT_THAT(ExplanationText(explanation), HasSubstr("PERMISSION_DENIED"));
  EXPECT_THAT(ExplanationJson(explanation), HasSubstr("PERMISSION_DENIED"));
}

TEST(Explanation, TheMethodIsComparedWithItsSlashHoweverItIsGiven) {
  for (const char* method : {"shop.Cart/Add", "/shop.Cart/Add"}) {
    EXPECT_EQ(ExplanationOf(kShop, {.authority = "cart.shop:1", .method = method}).policy,
              "default");
  }
  const Explanation other =
      ExplanationOf(kShop, {.authority = "cart.shop:1", .method = "shop.Bank/Pay"});
  EXPECT_EQ(other.routes[1].because,
            "its method \"/shop.Cart/*\" does not match \"/shop.Bank/Pay\"");
}

TEST(Explanation, AFactThatIsNotGivenMatchesEveryRoute) {
  EXPECT_EQ(ExplanationOf(kShop).routes.back().path, "routes[1]");
  EXPECT_EQ(ExplanationOf(kShop, {.method = "a/b"}).routes.back().path, "routes[2]");
}

TEST(Explanation, TheRouteIsTheOneThatCallsTake) {
  const Asked asked(kShop);
  for (const char* authority : {"cart.shop:1", "bank.shop:1"}) {
    for (const char* path : {"/shop.Cart/Add", "/shop.Bank/Pay"}) {
      for (const char* listener : {"in", "out"}) {
        const auto explanation =
            asked.Explain({.authority = authority, .method = path, .listener = listener});
        const bool inbound = std::string(listener) == "in";
        const Route* const route = asked.snapshot().routes.Find(
            {.listener = {inbound ? 1 : 0, inbound ? Direction::kInbound : Direction::kEgress},
             .authority = authority,
             .path = path,
             .peer = "",
             .headers = std::nullopt});
        ASSERT_TRUE(explanation.ok() && route != nullptr);
        EXPECT_EQ(
            explanation->routes.back().path,
            "routes[" + std::to_string(route - asked.snapshot().routes.routes().data()) + "]");
      }
    }
  }
}

TEST(Explanation, ACallWithoutARouteSaysSo) {
  const Explanation explanation = ExplanationOf(
      "upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"]}]\n"
      "routes: [{match: {method: \"/a/*\"}, upstream: a}]\n",
      {.method = "b/c"});
  EXPECT_FALSE(explanation.routed);
  EXPECT_THAT(explanation.values, IsEmpty());
}

TEST(Explanation, AListenerThatThereIsNotIsNamedWithTheNearest) {
  const Asked asked(kShop);
  EXPECT_EQ(asked.Explain({.listener = "inn"}).status().message(),
            "there is no listener \"inn\"; did you mean in?");
}

TEST(Explanation, EachValueSaysWhereItComesFrom) {
  const Explanation explanation = ExplanationOf(kShop, {.authority = "x:1"});
  EXPECT_EQ(OriginOf(explanation, "timeout"), "5s from f:13");
  EXPECT_EQ(OriginOf(explanation, "retry.max_attempts"), "4 from f:15");
  EXPECT_EQ(OriginOf(explanation, "retry.backoff.initial"), "1s from preset google-cloud");
  EXPECT_EQ(OriginOf(explanation, "retry.backoff.multiplier"), "2 from preset google-cloud");
  EXPECT_EQ(OriginOf(explanation, "retry.backoff.jitter"), "{add: 1s} from preset google-cloud");
  EXPECT_EQ(OriginOf(explanation, "retry.backoff.max"), "8s from f:16");
  EXPECT_EQ(OriginOf(explanation, "retry.backoff.max_advice"), "1m from default");
  EXPECT_EQ(OriginOf(explanation, "hedge"), "none from default");
}

TEST(Explanation, ValuesOfSeveralFilesSayWhichFile) {
  const Asked asked(
      std::vector<ConfigText>{{"a", "policies: [{name: other}, {name: default, timeout: 1s}]\n"},
                              {"b", "\npolicies: [{name: default, retry: {max_attempts: 2}}]\n"}});
  const auto explanation = asked.Explain({});
  ASSERT_TRUE(explanation.ok());
  EXPECT_EQ(OriginOf(*explanation, "retry.max_attempts"), "2 from b:2");
  EXPECT_EQ(OriginOf(*explanation, "timeout"), "none from default");
}

TEST(Explanation, TheDeadlineSentenceSaysInWhichShareOfDrawsAnAttemptDoesNotFit) {
  // Uniform [0, 1s) + uniform [0, 2s): at least 2 s in a quarter.
  const Explanation explanation = ExplanationOf(
      "policies: [{name: default, retry: {max_attempts: 4, backoff: {initial: 1s, max: 10s}}}]\n",
      {.deadline = absl::Seconds(2)});
  const std::vector<std::string>& sentences = explanation.retries[0].sentences;
  EXPECT_THAT(sentences, Contains("the delays of 3 retries add up to 7s at worst, and to 6.217s in "
                                  "99% of draws"));
  EXPECT_THAT(sentences, Contains("attempt 3 does not fit a deadline of 2s in 25% of draws"));
  EXPECT_THAT(sentences, Contains(HasSubstr("attempt 4 does not fit a deadline of 2s in 8")));
}

TEST(Explanation, ThePolicysTimeoutIsADeadlineToo) {
  const std::string text =
      "policies: [{name: default, timeout: 1s, retry: {max_attempts: 4, "
      "backoff: {constant: 400ms}}}]\n";
  for (const absl::Duration asked : {absl::InfiniteDuration(), absl::Seconds(3)}) {
    EXPECT_THAT(ExplanationOf(text, {.deadline = asked}).retries[0].sentences,
                Contains("attempt 4 does not fit a deadline of 1s in any draw"));
  }
  EXPECT_THAT(ExplanationOf(text, {.deadline = absl::Milliseconds(500)}).retries[0].sentences,
              Contains("attempts 3 to 4 do not fit a deadline of 500ms in any draw"));
}

TEST(Explanation, ARuleHasATableOfItsOwn) {
  const Explanation explanation = ExplanationOf(
      "policies: [{name: default, retry: {rules: [{codes: [8], http: [429], max_attempts: 2,\n"
      "backoff: {constant: 1s}}]}}]\n");
  ASSERT_EQ(explanation.retries.size(), 2u);
  EXPECT_EQ(explanation.retries[1].what, "retry.rules[0]: codes [RESOURCE_EXHAUSTED], http [429]");
  ASSERT_EQ(explanation.retries[1].delays.rows.size(), 1u);
  EXPECT_EQ(explanation.retries[1].delays.rows[0].max, absl::Seconds(1));
}

TEST(Explanation, OfThousandsOfRulesEachHasItsWordsAndItsTable) {
  std::string rules;
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&rules, i == 0 ? "" : ",\n", "{http: [", 400 + i % 200,
                    "], max_attempts: ", i == 4998 ? 2 : 3, "}");
  }
  const Explanation explanation =
      ExplanationOf("policies: [{name: default, retry: {rules: [" + rules + "]}}]\n");
  ASSERT_EQ(explanation.retries.size(), 5001u);
  for (const size_t rule : {0, 1, 4997, 4998, 4999}) {
    const ExplainedRetries& told = explanation.retries[rule + 1];
    EXPECT_EQ(told.what, absl::StrCat("retry.rules[", rule, "]: http [", 400 + rule % 200, "]"));
    EXPECT_EQ(told.delays.rows.size(), rule == 4998 ? 1u : 2u);
  }
}

TEST(Explanation, TheBudgetIsToldForFourLoads) {
  const Explanation explanation = ExplanationOf("");
  std::vector<double> loads;
  for (const OutageLoad& load : explanation.outage) loads.push_back(load.calls_per_second);
  EXPECT_EQ(loads, (std::vector<double>{1, 10, 100, 1000}));
  for (const double load : loads) {
    EXPECT_THAT(SectionOf(explanation, "budget"),
                Contains(HasSubstr("at " + std::to_string(static_cast<int>(load)) + " calls/s: ")));
  }
}

TEST(Explanation, RateLimitsNameTheBucketOfTheCall) {
  const std::string text =
      "policies: [{name: default, rate_limit: [{name: tenants, rate: 60/m, burst: 20,\n"
      "key: [method, \"header:x-tenant\"], max_wait: 1s}]}]\n";
  EXPECT_THAT(
      SectionOf(ExplanationOf(text, {.method = "a/b", .headers = {{"x-tenant", "acme"}}}),
                "rate limits"),
      testing::ElementsAre(
          "tenants: 1/s, 20 at once after a quiet time; a bucket for each method and "
          "header:x-tenant, "
          "at most 10000 (this call: method \"/a/b\", header:x-tenant \"acme\"); a call above it "
          "waits up to 1s in order, and then gets RESOURCE_EXHAUSTED with the time to the next "
          "permit"));
  EXPECT_THAT(SectionOf(ExplanationOf(text), "rate limits"),
              Contains(HasSubstr("(this call: method not given, header:x-tenant not given)")));
}

TEST(Explanation, OfALimitThatAServiceKeepsItSaysWhichAndWhatAFailureMeans) {
  const std::string text =
      "policies: [{name: default, rate_limit: [{name: paid, scope: rls,\n"
      "key: [\"tier=text:paid\"], rls: {address: \"r:8081\", domain: shop, on_failure: deny}}]}]\n";
  EXPECT_THAT(SectionOf(ExplanationOf(text), "rate limits"),
              Contains(HasSubstr("paid: as much as the rate limit service at r:8081 grants in its "
                                 "domain shop; if it does not answer within 20ms, calls are "
                                 "refused; a bucket for each tier=text:paid, ")));
}

TEST(Explanation, AnInboundRouteIsExplainedByItsGuard) {
  const Explanation explanation =
      ExplanationOf(kShop, {.listener = "in", .headers = {{"levee-priority", "32"}}});
  EXPECT_EQ(explanation.policy, "front");
  EXPECT_THAT(explanation.retries, IsEmpty());
  EXPECT_THAT(explanation.outage, IsEmpty());
  const std::vector<std::string>& guard = SectionOf(explanation, "guard");
  EXPECT_THAT(guard, Contains("the application gets 20 calls at a time"));
  EXPECT_THAT(guard, Contains(HasSubstr("up to 5 calls wait for a slot; once")));
  EXPECT_THAT(guard, Contains(HasSubstr("this call has 32")));
}

// The explanation of a call of shop.Feed/Watch, which streams by its descriptor, on a listener of
// that direction.
Explanation ExplainedWatch(const std::string& direction, const std::string& method,
                           const std::string& policy) {
  google::protobuf::FileDescriptorSet set;
  auto& file = *set.add_file();
  file.set_package("shop");
  auto& service = *file.add_service();
  service.set_name("Feed");
  service.add_method()->set_name("Get");
  auto& watch = *service.add_method();
  watch.set_name("Watch");
  watch.set_server_streaming(true);
  const TemporaryFolder folder;
  return ExplanationOf(
      absl::StrCat("listeners: [{name: l, address: 127.0.0.1:1, direction: ", direction,
                   "}]\nupstreams: [{name: feed, endpoints: [\"127.0.0.1:2\"], descriptor_set: \"",
                   folder.Write("feed.pb", set.SerializeAsString()),
                   "\"}]\nroutes: [{match: {listener: l}, upstream: feed, policy: "
                   "live}]\npolicies: [{name: live, ",
                   policy, "}]\n"),
      {.method = method, .listener = "l"});
}

TEST(Explanation, AStreamByItsDescriptorIsExplainedByItsOwnBounds) {
  const std::string policy = "timeout: 1s, stream: {idle: 5m}, retry: {backoff: {constant: 2s}}";
  const Explanation watch = ExplainedWatch("egress", "shop.Feed/Watch", policy);
  EXPECT_THAT(SectionOf(watch, "stream"),
              ElementsAre("the descriptor set says that the call is a stream: neither timeout nor "
                          "attempt_timeout ends it",
                          "stream.timeout none, stream.idle 5m"));
  // No deadline of unary calls keeps it from its retries.
  EXPECT_THAT(watch.retries[0].sentences, Not(Contains(HasSubstr("a deadline of 1s"))));
  const Explanation get = ExplainedWatch("egress", "shop.Feed/Get", policy);
  EXPECT_THAT(SectionOf(get, "stream"), IsEmpty());
  EXPECT_THAT(get.retries[0].sentences, Contains(HasSubstr("a deadline of 1s")));
  EXPECT_THAT(SectionOf(ExplainedWatch("egress", "shop.Feed/New", policy), "stream"),
              Contains(HasSubstr("if the call turns out to be a stream, neither timeout")));
}

TEST(Explanation, AStreamByItsDescriptorSaysWhetherItHoldsASlotOfTheGuard) {
  const auto guarded = [](const std::string& guard) {
    return SectionOf(ExplainedWatch("inbound", "shop.Feed/Watch", "guard: " + guard), "stream");
  };
  EXPECT_THAT(guarded("{}"), Contains("it takes no slot of the guard"));
  EXPECT_THAT(guarded("{concurrency: {streams: count}}"),
              Contains("it holds a slot of the guard to its end"));
}

TEST(Explanation, CallsThatRunOnceAreExplained) {
  const auto once = [](const std::string& dedupe, const ExplainQuestion& question) {
    const std::string text = absl::StrReplaceAll(
        kShop, {{"queue: {max: 5}", "queue: {max: 5}, dedupe: {" + dedupe + "}"}});
    return SectionOf(ExplanationOf(text, question), "calls that run once");
  };
  EXPECT_THAT(
      once("", {.listener = "in", .headers = {{"idempotency-key", "k7"}}}),
      ElementsAre("calls with one idempotency-key and the same method run once (this call: \"k7\")",
                  "one that is repeated within 24h gets the stored answer; while the first runs, "
                  "it waits",
                  "if the first was lost, 1m after its begin it is refused with "
                  "FAILED_PRECONDITION"));
  EXPECT_THAT(once("required: true, duplicate: refuse, in_flight: refuse, on_lost: run",
                   {.listener = "in"}),
              ElementsAre(HasSubstr("(this call: no key, it is refused)"),
                          HasSubstr("is refused with ALREADY_EXISTS; while the first runs, it is "
                                    "refused with ABORTED"),
                          HasSubstr("runs, maybe for the second time")));
}

TEST(Explanation, AShadowPolicyIsNamed) {
  const std::string text =
      "upstreams: [{name: cart, endpoints: [\"127.0.0.1:3\"]}]\n"
      "policies: [{name: default}, {name: candidate}]\n";
  EXPECT_THAT(
      SectionOf(ExplanationOf(text + "routes: [{upstream: cart, shadow: candidate}]\n"), "shadow"),
      ElementsAre(HasSubstr("policy candidate decides beside this one and does nothing")));
  EXPECT_THAT(SectionOf(ExplanationOf(text + "routes: [{upstream: cart}]\n"), "shadow"), IsEmpty());
}

TEST(Explanation, HedgingNeedsAMethodThatMayRunTwice) {
  const std::string hedge = "policies: [{name: default, hedge: {delay: 50ms}";
  EXPECT_THAT(SectionOf(ExplanationOf(hedge + "}]\n"), "hedging"),
              Contains(HasSubstr("neither hedged nor retried")));
  const Explanation hedged = ExplanationOf(hedge + ", idempotency: {mode: always}}]\n");
  EXPECT_THAT(SectionOf(hedged, "hedging"), Contains(HasSubstr("after 50ms, up to 2 attempts")));
  EXPECT_THAT(hedged.retries, IsEmpty());
  EXPECT_EQ(hedged.outage.size(), 4u);
}

}  // namespace
}  // namespace levee
