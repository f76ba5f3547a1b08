// SPDX-License-Identifier: Apache-2.0
// Ties through the application: what the calls that it makes have from the call that it serves.
// Applications, callers and sidecars are real; an application forwards nothing but `traceparent`.
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/relay.h"
#include "integration/sidecar_process.h"
#include "integration/traced.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kTrace[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr char kTied[] = "levee_tie_total";

// Calls of a load have the same message, and are not to be taken for an application's own retries.
constexpr char kTieRetry[] = "{max_attempts: 3, app_retries_loops: ignore}";

// The configuration of a sidecar of an application, which calls `next`. `slots`: of its guard.
std::string TieConfig(const std::string& application, const std::string& next, int slots,
                      const std::string& more = "") {
  return "listeners: [{name: egress, address: \"127.0.0.1:0\"},\n"
         "  {name: ingress, address: \"127.0.0.1:0\", direction: inbound}]\n"
         "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n"
         "upstreams: [{name: app, endpoints: [\"" +
         application + "\"]}, {name: next, endpoints: [\"" + next +
         "\"]}]\n"
         "routes: [{match: {listener: ingress}, upstream: app, policy: in}, {upstream: next}]\n"
         "policies: [{name: default, retry: " +
         std::string(kTieRetry) +
         "}, {name: in, guard: {concurrency: "
         "{limit: " +
         std::to_string(slots) +
         ", streams: count},\n"
         "  queue: {max: 0}, scope: {retries: 0, min_calls: 1}}}]\n" +
         more;
}

// A layer of a chain: an application and its sidecar, with a guard before it, which calls `next`.
class Layer {
 public:
  // Applications whose calls are tied (`tie`) tell them nothing themselves when a caller has gone.
  Layer(const std::string& next, bool traces, const std::string& tie = "")
      : application_(traces, /*cancels=*/tie.empty()),
        config_(TieConfig(application_.address(), next, /*slots=*/1000, tie)),
        sidecar_(SidecarProcess::Run({"--config", config_.path()})) {
    application_.SetNext(ConnectedChannel(sidecar_->address("egress")));
  }

  const std::string& ingress() const { return sidecar_->address("ingress"); }

 private:
  Relay application_;
  const TempFile config_;
  const std::unique_ptr<SidecarProcess> sidecar_;
};

// A service behind a guard with one slot, taken by a retry, so that the guard refuses all others on
// behalf of the whole service.
struct Overloaded {
  Overloaded()
      : config(TieConfig(service.address(), service.address(), /*slots=*/1)),
        sidecar(SidecarProcess::Run({"--config", config.path()})),
        retry(NewChannel(sidecar->address("ingress")), "/test.Echo/Chat") {
    retry.context().AddMetadata("grpc-previous-rpc-attempts", "1");
    EXPECT_TRUE(retry.Start());
    EXPECT_TRUE(retry.Write("x"));
    EXPECT_EQ(retry.Read(), "x");
  }

  FaultyService service;
  const TempFile config;
  const std::unique_ptr<SidecarProcess> sidecar;
  ByteCall retry;
};

// Returns what the caller above three layers sees; each has a sidecar, the caller too.
Reply CallAboveOverload(bool traces) {
  const Overloaded bottom;
  const Layer second(bottom.sidecar->address("ingress"), traces);
  const Layer first(second.ingress(), traces);
  const SidecarProcess top({.endpoints = {first.ingress()}});
  return CallUnary(NewChannel(top.address()));
}

TEST(Tie, G10_TheMarkOfTheBottomReachesTheTop) {
  const Reply reply = CallAboveOverload(/*traces=*/true);
  EXPECT_EQ(reply.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(Values(reply.trailers, "levee-overload"), StartsWith("service;"));
  EXPECT_THAT(Values(reply.trailers, "levee-overload"), HasSubstr("hops=6"));
  EXPECT_EQ(Values(reply.trailers, "grpc-retry-pushback-ms"), "-1");
}

TEST(Tie, G10_WithoutATraceNothingBreaks) {
  const Reply reply = CallAboveOverload(/*traces=*/false);
  EXPECT_EQ(reply.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(reply.status.error_message(), "the layer below failed");
  EXPECT_EQ(Values(reply.trailers, "levee-overload"), "");
}

// Arrivals at the bottom of three layers, and the calls at the top that they belong to, by the
// second in which such a call is first seen at the bottom.
struct ArrivalsOfCalls {
  int all = 0;
  int calls = 0;
};

// Calls a dead service through three layers, with a guard before each of them and before the
// service.
std::vector<ArrivalsOfCalls> ThroughGuards(bool traces) {
  const FaultyService dead(AlwaysFail());
  const TempFile config(TieConfig(dead.address(), dead.address(), /*slots=*/1000));
  const auto bottom = SidecarProcess::Run({"--config", config.path()});
  const Layer third(bottom->address("ingress"), traces);
  const Layer second(third.ingress(), traces);
  const Layer first(second.ingress(), traces);
  const SidecarProcess top({.endpoints = {first.ingress()}, .retry = kTieRetry});
  const auto begin = std::chrono::steady_clock::now();
  RunLoad({ConnectedChannel(top.address())},
          {.calls = 800, .per_second = 200, .setup = [](int number, grpc::ClientContext& context) {
             context.AddMetadata(kCallNumber, std::to_string(number));
           }});
  std::vector<ArrivalsOfCalls> arrivals(4);
  std::map<std::string, size_t> second_of;  // by the call's number
  for (const SeenCall& call : dead.seen()) {
    const auto now = static_cast<size_t>((call.at - begin) / std::chrono::seconds(1));
    const auto [at, is_new] = second_of.try_emplace(Values(call.metadata, kCallNumber), now);
    if (at->second >= arrivals.size()) continue;
    ++arrivals[at->second].all;
    if (is_new) ++arrivals[at->second].calls;
  }
  return arrivals;
}

// In some seconds no call may come to the bottom.
void ExpectAtMostTenPercentMore(const std::vector<ArrivalsOfCalls>& arrivals) {
  int arrived = 0;
  for (size_t second = 1; second < arrivals.size(); ++second) {
    const auto [all, calls] = arrivals[second];
    std::cout << all << " arrivals of " << calls << " calls\n";
    EXPECT_LE(all, 1.1 * calls + 1) << "second " << second;
    arrived += calls;
  }
  EXPECT_GT(arrived, 0);
}

TEST(Tie, G11_ADeadBottomBelowGuardsSeesTenPercentMoreInEverySecondAfterTheFirst) {
  ExpectAtMostTenPercentMore(ThroughGuards(/*traces=*/true));
}

TEST(Tie, G11_SoItDoesWithoutATrace) {
  ExpectAtMostTenPercentMore(ThroughGuards(/*traces=*/false));
}

// A sidecar of an application that the test plays itself, and the service that it calls. It serves
// calls of the test's, which stay open.
struct Played {
  explicit Played(
      const std::string& tie,
      FaultyService::Script script = [](const SeenCall&) { return Answer(); })
      : next(std::move(script)),
        config(TieConfig(application.address(), next.address(), /*slots=*/100, tie)),
        sidecar(SidecarProcess::Run({"--config", config.path()})),
        ingress(NewChannel(sidecar->address("ingress"))),
        egress(NewChannel(sidecar->address("egress"))) {}

  // Begins a call that the application serves until the test ends it.
  std::unique_ptr<ByteCall> Serve(const FieldList& metadata, milliseconds timeout = {}) {
    auto call = std::make_unique<ByteCall>(ingress, "/test.Echo/Chat");
    With(metadata)(call->context());
    if (timeout > milliseconds(0)) {
      call->context().set_deadline(std::chrono::system_clock::now() + timeout);
    }
    EXPECT_TRUE(call->Start());
    EXPECT_TRUE(call->Write("x"));
    EXPECT_EQ(call->Read(), "x");
    return call;
  }
  Fields Arrived() const { return application.seen().back().metadata; }

  FaultyService application;
  FaultyService next;
  const TempFile config;
  const std::unique_ptr<SidecarProcess> sidecar;
  const ChannelPtr ingress;
  const ChannelPtr egress;
};

TEST(Tie, AGoodAnswerStaysAsItIs) {
  Played played("", [](const SeenCall&) {
    Answer answer = Fails(StatusCode::RESOURCE_EXHAUSTED);
    answer.trailers = {{"levee-overload", "service;reason=queue"}};
    return answer;
  });
  const auto served = played.Serve({{"traceparent", kTrace}});
  EXPECT_FALSE(CallUnary(played.egress, "x", With({{"traceparent", kTrace}})).status.ok());
  EXPECT_TRUE(played.sidecar->WaitForSum(kTied, {R"(what="mark",result="kept")"}, 1));
  EXPECT_TRUE(served->HalfClose());
  EXPECT_TRUE(served->Finish().ok());
  EXPECT_EQ(Values(served->trailers(), "levee-overload"), "");
  EXPECT_EQ(played.sidecar->Sum(kTied, {R"(what="mark",result="passed")"}), 0);
}

TEST(Tie, ACallThatTheApplicationMakesHasThePriorityOfTheOneThatItServes) {
  Played played("");
  const auto served = played.Serve({{"traceparent", kTrace}, {"levee-priority", "3;u=\"alice\""}});
  CallUnary(played.egress, "x", With({{"traceparent", kTrace}}));
  CallUnary(played.egress, "x", With({{"traceparent", kTrace}, {"levee-priority", "90"}}));
  CallUnary(played.egress);
  const std::vector<SeenCall> seen = played.next.seen();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(Values(seen[0].metadata, "levee-priority"), "3;u=\"alice\"");
  EXPECT_EQ(Values(seen[1].metadata, "levee-priority"), "90");
  EXPECT_EQ(Values(seen[2].metadata, "levee-priority"), "");
  EXPECT_TRUE(played.sidecar->WaitForSum(kTied, {R"(what="priority",result="taken")"}, 1));
  EXPECT_TRUE(played.sidecar->WaitForSum(kTied, {R"(what="priority",result="own")"}, 1));
}

TEST(Tie, LastsAsLongAsTheServedCall) {
  Played played("");
  const auto served = played.Serve({{"traceparent", kTrace}, {"levee-priority", "3"}});
  EXPECT_TRUE(served->HalfClose());
  EXPECT_TRUE(served->Finish().ok());
  CallUnary(played.egress, "x", With({{"traceparent", kTrace}}));
  EXPECT_EQ(Values(played.next.seen().back().metadata, "levee-priority"), "");
}

TEST(Tie, ATraceparentThatCannotBeReadIsReplacedAndCounted) {
  Played played("");
  CallUnary(played.ingress, "x", With({{"traceparent", "00-nonsense"}, {"tracestate", "a=b"}}));
  EXPECT_THAT(Values(played.Arrived(), "traceparent"),
              testing::MatchesRegex("00-[0-9a-f]{32}-[0-9a-f]{16}-01"));
  EXPECT_EQ(Values(played.Arrived(), "tracestate"), "");
  CallUnary(played.ingress);
  EXPECT_THAT(Values(played.Arrived(), "traceparent"), StartsWith("00-"));
  CallUnary(played.ingress, "x", With({{"traceparent", kTrace}, {"tracestate", "a=b"}}));
  EXPECT_THAT(Values(played.Arrived(), "traceparent"),
              StartsWith("00-4bf92f3577b34da6a3ce929d0e0e4736-"));
  EXPECT_EQ(Values(played.Arrived(), "tracestate"), "a=b");
  EXPECT_TRUE(played.sidecar->WaitForSum("levee_guard_headers_ignored_total",
                                         {R"(header="traceparent")"}, 1));
  EXPECT_TRUE(played.sidecar->WaitForSum(kTied, {R"(what="call",result="trace_added")"}, 2));
  EXPECT_TRUE(played.sidecar->WaitForSum(kTied, {R"(what="call",result="tied")"}, 1));
}

TEST(Tie, ByNoneLeavesTracesAlone) {
  Played played("tie: {by: none}\n");
  const auto served = played.Serve({{"levee-priority", "3"}});
  EXPECT_EQ(Values(played.Arrived(), "traceparent"), "");
  CallUnary(played.egress, "x", With({{"traceparent", kTrace}}));
  EXPECT_EQ(Values(played.next.seen().back().metadata, "levee-priority"), "");
}

TEST(Tie, WithoutAPlaceACallIsServedAsWell) {
  Played played("tie: {max_traces: 1}\n");
  std::vector<std::unique_ptr<ByteCall>> served;
  for (int i = 0; i < 9; ++i) served.push_back(played.Serve({}));  // Eight places are one set.
  EXPECT_TRUE(played.sidecar->WaitForSum(kTied, {R"(what="call",result="no_place")"}, 1));
}

constexpr char kCarryAll[] = "tie: {carry: [deadline, cancel]}\n";

TEST(Tie, G12_ACallHasNoMoreTimeThanTheOneThatItIsMadeFor) {
  Played played(kCarryAll);
  const auto start = std::chrono::steady_clock::now();
  const auto before = std::chrono::system_clock::now();
  const auto served = played.Serve({{"traceparent", kTrace}}, kPatience / 2);
  EXPECT_TRUE(CallUnary(played.egress, "x", With({{"traceparent", kTrace}})).status.ok());
  // The service counts from the head's arrival, and both clocks round.
  const SeenCall seen = played.next.seen().back();
  const auto on_its_way = seen.at - start;
  EXPECT_LE(seen.deadline, before + kPatience / 2 + on_its_way + std::chrono::seconds(1));
}

TEST(TieSoak, G12_NoCallIsMadeForACallWhoseTimeIsOver) {
  Played played(kCarryAll);
  const auto served = played.Serve({{"traceparent", kTrace}}, std::chrono::seconds(2));
  const auto traced = With({{"traceparent", kTrace}});
  EXPECT_TRUE(CallUnary(played.egress, "x", traced).status.ok());
  EXPECT_EQ(served->Finish().error_code(), StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(played.sidecar->WaitForSum("levee_guard_in_flight", {}, 0));
  EXPECT_EQ(CallUnary(played.egress, "x", traced).status.error_code(), StatusCode::CANCELLED);
  EXPECT_EQ(played.next.calls(), 1);
}

TEST(Tie, G12_NoCallIsMadeForACallerThatHasGone) {
  Played played(kCarryAll);
  const auto traced = With({{"traceparent", kTrace}});
  const auto served = played.Serve({{"traceparent", kTrace}});
  EXPECT_TRUE(CallUnary(played.egress, "x", traced).status.ok());
  ByteCall running(played.egress, "/test.Echo/Sleep");
  traced(running.context());
  EXPECT_TRUE(running.Start());
  EXPECT_TRUE(played.next.WaitFor([&] { return played.next.calls() == 2; }));

  served->context().TryCancel();
  EXPECT_EQ(running.Finish().error_code(), StatusCode::CANCELLED);
  EXPECT_TRUE(played.next.WaitFor([&] { return played.next.cancelled() == 1; }));
  EXPECT_EQ(CallUnary(played.egress, "x", traced).status.error_code(), StatusCode::CANCELLED);
  EXPECT_TRUE(CallUnary(played.egress).status.ok());
  EXPECT_EQ(played.next.calls(), 3);
  EXPECT_TRUE(played.sidecar->WaitForSum(kTied, {R"(what="cancel",result="ended")"}, 2));
}

TEST(Tie, G12_WorkBelowThreeLayersEndsWhenTheCallerAtTheTopHasGone) {
  FaultyService bottom;
  const Layer third(bottom.address(), /*traces=*/true, kCarryAll);
  const Layer second(third.ingress(), /*traces=*/true, kCarryAll);
  const Layer first(second.ingress(), /*traces=*/true, kCarryAll);
  const SidecarProcess top({.endpoints = {first.ingress()}});
  ByteCall call(ConnectedChannel(top.address()), "/test.Echo/Sleep");
  EXPECT_TRUE(call.Start());
  EXPECT_TRUE(call.Write("x"));
  EXPECT_TRUE(bottom.WaitFor([&] { return bottom.calls() == 1; }));
  const auto gone = std::chrono::steady_clock::now();
  call.context().TryCancel();
  EXPECT_TRUE(bottom.WaitFor([&] { return bottom.cancelled() == 1; }));
  std::cout << "its work ended after "
            << (std::chrono::steady_clock::now() - gone) / std::chrono::microseconds(1) << " us\n";
  EXPECT_EQ(bottom.calls(), 1);
}

// How long the caller's leaving takes to come here is a matter of the machine, and only printed.
TEST(Tie, G12_OnceTheApplicationCanKnowThatItsCallerHasGoneNoCallOfItsLeaves) {
  Played played(kCarryAll);
  const auto traced = With({{"traceparent", kTrace}});
  const auto served = played.Serve({{"traceparent", kTrace}});
  EXPECT_TRUE(CallUnary(played.egress, "x", traced).status.ok());
  served->context().TryCancel();
  const auto gone = std::chrono::steady_clock::now();
  EXPECT_TRUE(played.application.WaitFor([&] { return played.application.cancelled() == 1; }));
  const int before = played.next.calls();
  std::cout << "the application can know after "
            << (std::chrono::steady_clock::now() - gone) / std::chrono::microseconds(1) << " us\n";
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(CallUnary(played.egress, "x", traced).status.error_code(), StatusCode::CANCELLED);
  }
  EXPECT_EQ(played.next.calls(), before);
}

TEST(Tie, G12_AnotherServedCallOfTheTraceKeepsItsCallsGoing) {
  Played played(kCarryAll);
  const auto traced = With({{"traceparent", kTrace}});
  const auto gone = played.Serve({{"traceparent", kTrace}});
  const auto stays = played.Serve({{"traceparent", kTrace}});
  gone->context().TryCancel();
  gone->Finish();
  EXPECT_TRUE(played.sidecar->WaitForSum("levee_guard_in_flight", {}, 1));
  EXPECT_TRUE(CallUnary(played.egress, "x", traced).status.ok());
}

}  // namespace
}  // namespace levee
