// SPDX-License-Identifier: Apache-2.0
// The guard through the binary: real gRPC callers on an inbound listener, and a real gRPC service.
#include <google/protobuf/util/json_util.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/raw_client.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"
#include "levee/admin/v1/admin.pb.h"
#include "wire/load_report.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;
using testing::StartsWith;

// A sidecar in front of a service. Calls on its listener "egress" go to whatever authority they
// name.
std::string Inbound(const std::string& service, const std::string& guard) {
  return "listeners: [{name: egress, address: \"127.0.0.1:0\"},\n"
         "  {name: ingress, address: \"127.0.0.1:0\", direction: inbound}]\n"
         "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: \"127.0.0.1:0\"}\n"
         "upstreams: [{name: app, endpoints: [\"" +
         service +
         "\"]}, {name: anywhere, endpoints: [\"authority:\"]}]\n"
         "routes: [{match: {listener: ingress}, upstream: app, policy: protect},\n"
         "  {upstream: anywhere}]\n"
         "policies: [{name: default}, {name: protect, guard: {" +
         guard + "}}]\n";
}

struct Guarded {
  explicit Guarded(const std::string& service, const std::string& guard)
      : config(Inbound(service, guard)),
        sidecar(SidecarProcess::Run({"--config", config.path()})),
        channel(NewChannel(sidecar->address("ingress"))) {}

  // Makes a call that holds its slot until it is finished; it has the slot on return.
  std::unique_ptr<ByteCall> Occupy() const {
    auto call = std::make_unique<ByteCall>(channel, "/test.Echo/Chat");
    EXPECT_TRUE(call->Start());
    EXPECT_TRUE(call->Write("x"));
    EXPECT_EQ(call->Read(), "x");
    return call;
  }
  static void Leave(ByteCall& call) {
    EXPECT_TRUE(call.HalfClose());
    EXPECT_TRUE(call.Finish().ok());
  }

  // Starts a call; it waits for a slot on return, as the `nth` call.
  std::unique_ptr<ByteCall> Wait(int nth, const std::string& priority = "") const {
    auto call = std::make_unique<ByteCall>(channel, "/test.Echo/Unary");
    if (!priority.empty()) call->context().AddMetadata("levee-priority", priority);
    EXPECT_TRUE(call->Start());
    EXPECT_TRUE(call->Write("x"));
    EXPECT_TRUE(call->HalfClose());
    EXPECT_TRUE(sidecar->WaitForSum("levee_guard_queue_length", {}, nth));
    return call;
  }

  TempFile config;
  std::unique_ptr<SidecarProcess> sidecar;
  ChannelPtr channel;
};

// Returns what the state says of the guarded upstream as soon as `done` accepts it; asks until
// then.
admin::v1::Upstream AppOnce(const Guarded& guarded,
                            const std::function<bool(const admin::v1::Upstream&)>& done) {
  const std::string address = guarded.sidecar->AwaitAddress("admin");
  admin::v1::State state;
  const bool became = Eventually([&] {
    state.Clear();
    const std::string body = HttpGet(address, "/api/v1/state?upstream=app").body;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(body, &state).ok()) << body;
    return state.upstreams_size() == 1 && done(state.upstreams(0));
  });
  EXPECT_TRUE(became) << "the state never became as awaited";
  return became ? state.upstreams(0) : admin::v1::Upstream();
}

admin::v1::Upstream AppAfterRefusals(const Guarded& guarded, uint32_t refusals) {
  return AppOnce(guarded, [refusals](const admin::v1::Upstream& app) {
    uint32_t seen = 0;
    for (const auto& sample : app.samples()) {
      for (const auto& [reason, count] : sample.guard().refused()) seen += count;
    }
    return seen == refusals;
  });
}

constexpr char kGuardCalls[] = "levee_guard_calls_total";

TEST(Guard, RefusesACallForThisInstanceWhereNoSlotIsFreeAndNoneMayWait) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: count}, queue: {max: 0}");
  const auto first = guarded.Occupy();
  const Reply reply = CallUnary(guarded.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("all of its 1 slots are taken"));
  EXPECT_THAT(Values(reply.trailers, "levee-overload"), StartsWith("endpoint;"));
  EXPECT_THAT(Values(reply.trailers, "levee-overload"), HasSubstr("reason=concurrency"));
  EXPECT_GE(std::stoi(Values(reply.trailers, "grpc-retry-pushback-ms")), 1);
  EXPECT_EQ(service.calls(), 1);
  EXPECT_TRUE(Eventually([&] {
    return absl::StrContains(guarded.sidecar->process().Errors(),
                             "guard_refusing: the guard refuses calls upstream=app slots=1 "
                             "in_flight=1 waiting=0");
  }));
  Guarded::Leave(*first);
  EXPECT_TRUE(CallUnary(guarded.channel).status.ok());
  EXPECT_TRUE(guarded.sidecar->WaitForSum(
      kGuardCalls, {R"(decision="refused",reason="concurrency",priority="64-95")"}, 1));
  EXPECT_TRUE(guarded.sidecar->WaitForSum(kGuardCalls, {R"(decision="admitted")"}, 2));
  EXPECT_EQ(guarded.sidecar->Sum("levee_guard_in_flight"), 0);
  EXPECT_EQ(guarded.sidecar->Sum("levee_guard_limit"), 1);
}

TEST(Guard, ACallIsCountedAsItArrives) {
  FaultyService service;
  const Guarded guarded(service.address(), "concurrency: {limit: 1, streams: count}");
  const auto first = guarded.Occupy();
  const auto waiting = guarded.Wait(1, "100");
  EXPECT_EQ(guarded.sidecar->Sum("levee_guard_arrivals_total"), 2);
  EXPECT_EQ(guarded.sidecar->Sum(kGuardCalls), 0);
}

TEST(Guard, LetsCallsWaitForASlotTheDearestFirst) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: count}, queue: {interval: 1h}");
  const auto first = guarded.Occupy();
  const auto cheap = guarded.Wait(1, "100");
  const auto dear = guarded.Wait(2, "3;u=\"alice\"");
  Guarded::Leave(*first);
  EXPECT_EQ(dear->Read(), "x");
  EXPECT_TRUE(dear->Finish().ok());
  EXPECT_EQ(cheap->Read(), "x");
  EXPECT_TRUE(cheap->Finish().ok());
  EXPECT_TRUE(guarded.sidecar->WaitForSum(kGuardCalls, {R"(decision="queued")"}, 2));
  EXPECT_EQ(
      guarded.sidecar->Sum(kGuardCalls, {R"(decision="queued",reason="none",priority="0-31")"}), 1);
  EXPECT_EQ(guarded.sidecar->Sum("levee_guard_queue_seconds_count"), 2);
}

TEST(Guard, ACallerThatLeavesTheQueueLeavesItsPlace) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: count}, queue: {interval: 1h}");
  const auto first = guarded.Occupy();
  const auto gone = guarded.Wait(1);
  gone->context().TryCancel();
  EXPECT_EQ(gone->Finish().error_code(), StatusCode::CANCELLED);
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_queue_length", {}, 0));
  const auto stays = guarded.Wait(1);
  Guarded::Leave(*first);
  EXPECT_EQ(stays->Read(), "x");
  EXPECT_TRUE(stays->Finish().ok());
  EXPECT_EQ(service.calls(), 2);
}

TEST(Guard, ACallThatHoldsASlotGivesItBackWhenItsCallerGoes) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: count}, queue: {max: 0}");
  {
    const auto first = guarded.Occupy();
    first->context().TryCancel();
    first->Finish();
  }
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_in_flight", {}, 0));
  EXPECT_TRUE(CallUnary(guarded.channel).status.ok());
}

// A call without an answer yet: it holds the slot, whatever becomes of its method.
std::unique_ptr<ByteCall> HoldSlot(const Guarded& guarded) {
  auto call = std::make_unique<ByteCall>(guarded.channel, "/test.Echo/Collect");
  EXPECT_TRUE(call->Start());
  EXPECT_TRUE(call->Write("x"));
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_in_flight", {}, 1));
  return call;
}

TEST(Guard, FreeStreamsGiveTheirSlotBackOnceASecondMessageComes) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: free}, queue: {max: 0}");
  const auto first = HoldSlot(guarded);
  EXPECT_FALSE(CallUnary(guarded.channel).status.ok());
  EXPECT_TRUE(first->Write("y"));
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_in_flight", {}, 0));
  EXPECT_TRUE(CallUnary(guarded.channel).status.ok());
  EXPECT_TRUE(first->HalfClose());
  EXPECT_EQ(first->Read(), "xy");
  EXPECT_TRUE(first->Finish().ok());
  EXPECT_EQ(guarded.sidecar->Sum("levee_guard_in_flight"), 0);
}

TEST(Guard, AFreeCallOfAnUnknownMethodGivesItsSlotBackWithItsFirstAnswer) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: free}, queue: {max: 0}");
  const auto first = guarded.Occupy();
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_in_flight", {}, 0));
  EXPECT_TRUE(CallUnary(guarded.channel).status.ok());
  Guarded::Leave(*first);
  EXPECT_EQ(guarded.sidecar->Sum("levee_guard_in_flight"), 0);
}

TEST(Guard, AFreeStreamThatWaitsForASlotGivesItBack) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: free}, queue: {interval: 1h}");
  const auto first = HoldSlot(guarded);
  ByteCall stream(guarded.channel, "/test.Echo/Collect");
  EXPECT_TRUE(stream.Start());
  EXPECT_TRUE(stream.Write("one"));
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_queue_length", {}, 1));
  EXPECT_TRUE(stream.Write("two"));
  EXPECT_TRUE(first->HalfClose());
  EXPECT_EQ(first->Read(), "x");
  EXPECT_TRUE(first->Finish().ok());
  EXPECT_TRUE(service.WaitFor([&] { return service.calls() == 2; }));
  EXPECT_TRUE(CallUnary(guarded.channel).status.ok());
  EXPECT_TRUE(stream.HalfClose());
  EXPECT_EQ(stream.Read(), "onetwo");
  EXPECT_TRUE(stream.Finish().ok());
}

// gRPC's C++ library shows the trailer to its balancers alone.
TEST(Guard, TellsTheLoadInEveryAnswerAlsoInARefusal) {
  FaultyService service;
  const Guarded guarded(
      service.address(),
      "concurrency: {limit: 2, streams: count}, queue: {max: 0}, load_report: true");
  RawClient client(guarded.sidecar->address("ingress"));
  const std::string first = Values(client.AnswerTo(client.Call()).trailers, kLoadReportField);
  EXPECT_EQ(first, LoadReportText({.utilization = 0.5}));
  const auto one = guarded.Occupy();
  const auto other = guarded.Occupy();
  const RawAnswer refused = client.AnswerTo(client.Call());
  EXPECT_EQ(refused.grpc_status(), "8");
  EXPECT_NE(Values(refused.head, kLoadReportField), "");
  Guarded::Leave(*one);
  Guarded::Leave(*other);
}

TEST(Guard, TellsNoLoadUnlessItIsConfigured) {
  FaultyService service;
  const Guarded guarded(service.address(), "");
  RawClient client(guarded.sidecar->address("ingress"));
  EXPECT_EQ(Values(client.AnswerTo(client.Call()).trailers, kLoadReportField), "");
}

TEST(Guard, AnApplicationThatTellsItsLoadKeepsItsOwn) {
  FaultyService service([](const SeenCall&) {
    Answer answer;
    answer.trailers = {{std::string(kLoadReportField), "own"}};
    return answer;
  });
  const Guarded guarded(service.address(), "load_report: true");
  RawClient client(guarded.sidecar->address("ingress"));
  std::string own;
  absl::Base64Unescape(Values(client.AnswerTo(client.Call()).trailers, kLoadReportField), &own);
  EXPECT_EQ(own, "own");
}

TEST(Guard, APriorityThatCannotBeReadIsIgnoredAndCounted) {
  FaultyService service;
  const Guarded guarded(service.address(), "");
  for (const char* text : {"dear", "128", "1;u=\"", "1, 2"}) {
    const auto setup = [&](grpc::ClientContext& context) {
      context.AddMetadata("levee-priority", text);
    };
    EXPECT_TRUE(CallUnary(guarded.channel, "x", setup).status.ok()) << text;
  }
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_headers_ignored_total",
                                          {R"(header="levee-priority")"}, 4));
  EXPECT_TRUE(guarded.sidecar->WaitForSum(kGuardCalls, {R"(priority="64-95")"}, 4));
}

TEST(Guard, AReportThatCannotBeReadIsIgnoredAndCounted) {
  FaultyService service;
  const Guarded guarded(service.address(), "");
  for (const char* text : {"Many", "a0=-1", "a0=1;", "a0=(1 2)"}) {
    const auto setup = [&](grpc::ClientContext& context) {
      context.AddMetadata("levee-retries", text);
    };
    EXPECT_TRUE(CallUnary(guarded.channel, "x", setup).status.ok()) << text;
  }
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_headers_ignored_total",
                                          {R"(header="levee-retries")"}, 4));
}

TEST(Guard, AReportOfWantedRetriesMakesARefusalMeantForTheWholeService) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: count}, queue: {max: 0}");
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(CallUnary(guarded.channel).status.ok());
  const auto first = guarded.Occupy();
  EXPECT_THAT(Values(CallUnary(guarded.channel).trailers, "levee-overload"),
              StartsWith("endpoint;"));
  // Nothing that arrives is a retry, but callers wanted some.
  const auto report = [](grpc::ClientContext& context) {
    context.AddMetadata("levee-retries", "a0=80, a1=10, refused=10");
  };
  std::string mark;
  Eventually([&] {
    mark = Values(CallUnary(guarded.channel, "x", report).trailers, "levee-overload");
    return mark.starts_with("service");
  });
  EXPECT_THAT(mark, StartsWith("service;"));
  EXPECT_EQ(guarded.sidecar->Sum("levee_guard_reported_retry_share"), 0.2);
  Guarded::Leave(*first);
}

TEST(Guard, ACallersSidecarReportsItsAttemptsOnceASecondOnAConnection) {
  FaultyService service(FailFirst(2));
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = "{backoff: {initial: 1ms}}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  const auto forged = [](grpc::ClientContext& context) {
    context.AddMetadata("levee-retries", "a0=1000");
  };
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> reports;
  while (reports.size() < 2) {
    EXPECT_TRUE(CallUnary(channel, "x", forged).status.ok());
    reports.clear();
    for (const SeenCall& call : service.seen()) {
      const std::string report = Values(call.metadata, "levee-retries");
      if (!report.empty()) reports.push_back(report);
    }
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_EQ(reports[0], "a0=1, a1=0, a2=0, a3=0, refused=0");
  EXPECT_THAT(reports[1], testing::ContainsRegex("^a0=[0-9]+, a1=1, a2=1, a3=0, refused=0$"));
}

TEST(Guard, AFailureOfTheApplicationIsLeftToTheCallersSidecar) {
  FaultyService service(FailFirst(2));
  const Guarded guarded(service.address(), "");
  const Reply reply = CallUnary(guarded.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(), "scripted");
  EXPECT_EQ(Values(reply.trailers, "levee-overload"), "");
  EXPECT_EQ(Values(reply.trailers, "grpc-retry-pushback-ms"), "");
  const SidecarProcess caller(
      {.endpoints = {guarded.sidecar->address("ingress")}, .retry = "{backoff: {initial: 1ms}}"});
  EXPECT_TRUE(CallUnary(NewChannel(caller.address())).status.ok());
  EXPECT_EQ(service.calls(), 3);
}

TEST(Guard, ObservesWithoutRefusingOrDelayingAnything) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: count}, queue: {max: 0}, mode: observe");
  const auto first = guarded.Occupy();
  EXPECT_TRUE(CallUnary(guarded.channel).status.ok());
  EXPECT_TRUE(guarded.sidecar->WaitForSum(
      kGuardCalls, {R"(decision="refused",reason="concurrency",priority="64-95")"}, 1));
  Guarded::Leave(*first);
  EXPECT_TRUE(guarded.sidecar->WaitForSum("levee_guard_in_flight", {}, 0));
}

TEST(Guard, ALimitThatIsMeasuredGrowsWithAServiceThatIsQuickEnough) {
  FaultyService service;
  const Guarded guarded(service.address(), "concurrency: {initial: 1}, queue: {interval: 1h}");
  EXPECT_EQ(guarded.sidecar->Sum("levee_guard_limit"), 1);
  EXPECT_TRUE(Eventually([&] {
    RunLoad({guarded.channel}, {.calls = 200, .at_once = 20});
    return guarded.sidecar->Sum("levee_guard_limit") > 1;
  }));
}

TEST(Guard, TheStateTellsOfItsSlotsAndRefusals) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: count}, queue: {max: 0}");
  const auto first = guarded.Occupy();
  const auto retry = [](grpc::ClientContext& context) {
    context.AddMetadata("grpc-previous-rpc-attempts", "1");
  };
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(CallUnary(guarded.channel, "x", retry).status.ok());
  const admin::v1::Upstream app = AppAfterRefusals(guarded, 20);
  EXPECT_EQ(app.guard().limit(), 1u);
  EXPECT_EQ(app.guard().in_flight(), 1u);
  EXPECT_EQ(app.guard().queue_length(), 0u);
  EXPECT_EQ(app.guard().scope(), "service");
  EXPECT_FALSE(app.guard().observing());
  EXPECT_GT(app.guard().arrived_retry_share(), 0.95);  // All but the first, of 21.
  EXPECT_TRUE(app.guard().refused_per_second().contains("concurrency"));
  EXPECT_EQ(app.severity(), admin::v1::Upstream::SEVERITY_ALARM);
  EXPECT_THAT(app.verdict(),
              StartsWith("guard refuses 100% of calls: 1 slot taken, no more may wait"));
  EXPECT_THAT(app.verdict(), HasSubstr("callers retry and are told to give up"));
  Guarded::Leave(*first);
}

TEST(Guard, TheStateTellsOfItBeforeAnyCallAndAfterAReload) {
  FaultyService service;
  const Guarded guarded(service.address(), "concurrency: {limit: 3, streams: count}");
  const auto limited_to = [](uint32_t limit) {
    return [limit](const admin::v1::Upstream& app) { return app.guard().limit() == limit; };
  };
  EXPECT_EQ(AppOnce(guarded, limited_to(3)).last_called(), 0u);
  RewriteFile(guarded.config.path(),
              Inbound(service.address(), "concurrency: {limit: 5, streams: count}"));
  EXPECT_EQ(AppOnce(guarded, limited_to(5)).last_called(), 0u);
}

TEST(Guard, HeadersForTheGuardPassTheCallersSidecarAndEndInFrontOfTheApplication) {
  FaultyService service;
  const Guarded guarded(service.address(), "");
  // The application's own call to its own service: out by one listener, in by the other.
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, guarded.sidecar->address("ingress"));
  const Reply reply = CallUnary(NewChannel(guarded.sidecar->address("egress"), arguments), "x",
                                [](grpc::ClientContext& context) {
                                  context.AddMetadata("levee-priority", "3");
                                  context.AddMetadata("levee-overload", "service");
                                });
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_TRUE(guarded.sidecar->WaitForSum(kGuardCalls, {R"(priority="0-31")"}, 1));
  const std::vector<SeenCall> seen = service.seen();
  ASSERT_EQ(seen.size(), 1);
  for (const auto& [name, value] : seen[0].metadata) {
    EXPECT_FALSE(name.starts_with("levee-")) << name;
  }
}

TEST(Guard, RetriesThatArriveMakeARefusalMeantForTheWholeService) {
  FaultyService service;
  const Guarded guarded(service.address(),
                        "concurrency: {limit: 1, streams: count}, queue: {max: 0}");
  const auto first = guarded.Occupy();
  const auto retry = [](grpc::ClientContext& context) {
    context.AddMetadata("grpc-previous-rpc-attempts", "1");
  };
  // With as few calls nothing can be said of all instances.
  EXPECT_THAT(Values(CallUnary(guarded.channel, "x", retry).trailers, "levee-overload"),
              StartsWith("endpoint;"));
  for (int i = 0; i < 20; ++i) CallUnary(guarded.channel, "x", retry);
  // The scope is looked at again a few times a second.
  std::string mark;
  Reply reply;
  Eventually([&] {
    reply = CallUnary(guarded.channel, "x", retry);
    mark = Values(reply.trailers, "levee-overload");
    return mark.starts_with("service");
  });
  EXPECT_THAT(mark, StartsWith("service;"));
  EXPECT_EQ(Values(reply.trailers, "grpc-retry-pushback-ms"), "-1");
  EXPECT_GT(guarded.sidecar->Sum("levee_guard_arrivals_total", {R"(attempt="1")"}), 20);
  Guarded::Leave(*first);
}

}  // namespace
}  // namespace levee
