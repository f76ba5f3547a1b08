// SPDX-License-Identifier: Apache-2.0
// Which of several endpoints gets the calls, and the kinds of endpoint there are.
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/named_endpoints.h"
#include "integration/scripted.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kEagerRetry[] = "{max_attempts: 3, budget: {ratio: 100}, backoff: {initial: 1ms}}";
constexpr char kReconnect[] = ", reconnect: {initial: 10ms, max: 20ms}";

TEST(Endpoints, AUnixSocketIsAnEndpoint) {
  const std::string path = testing::TempDir() + "levee-endpoint-" + std::to_string(getpid());
  FaultyService service([](const SeenCall&) { return Answer(); }, {.at = "unix:" + path});
  SidecarProcess sidecar({.endpoints = {"unix:" + path}});
  const Reply reply = CallUnary(NewChannel(sidecar.address()), "through a socket");
  EXPECT_EQ(reply.body, "through a socket") << reply.status.error_message();
}

TEST(Endpoints, ASocketThatIsNotThereIsUnavailable) {
  SidecarProcess sidecar(
      {.endpoints = {"unix:/nowhere/cart.sock"}, .retry = "{max_attempts: 1, exhausted: keep}"});
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(),
            "cannot connect to unix:/nowhere/cart.sock: no such file or directory");
}

TEST(Endpoints, EachIsCountedOnceHoweverManyWorkersThereAreAndIdleFromTheStart) {
  FaultyService first, second;
  SidecarProcess sidecar({.endpoints = {first.address(), second.address()}}, {"--workers", "2"});
  EXPECT_TRUE(sidecar.WaitForSum("levee_endpoints", {R"(state="idle")"}, 2));
  EXPECT_EQ(sidecar.Sum("levee_endpoints"), 2);
  // Callers' connections are dealt to the workers in turn.
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
  EXPECT_TRUE(sidecar.WaitForSum("levee_endpoints", {R"(state="ready")"}, 2));
  EXPECT_TRUE(sidecar.WaitForSum("levee_upstream_connections", {}, 4));
  EXPECT_EQ(sidecar.Sum("levee_endpoints"), 2);
}

TEST(Endpoints, AnEndpointThatAlwaysFailsIsLeftAlone) {
  FaultyService first, second, bad(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {first.address(), bad.address(), second.address()},
                          .retry = kEagerRetry,
                          .upstream = ", ejection: {base: 1h, max: 1h}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(Eventually([&] {
    EXPECT_EQ(RunLoad({channel}, {.calls = 50}).at(StatusCode::OK), 50);
    return sidecar.Sum("levee_endpoints", {R"(state="ejected")"}) == 1;
  }));
  EXPECT_EQ(sidecar.Sum("levee_endpoints", {R"(state="ready")"}), 2);
  EXPECT_GE(bad.calls(), 5);
  const int before = bad.calls();
  EXPECT_EQ(RunLoad({channel}, {.calls = 200}).at(StatusCode::OK), 200);
  EXPECT_EQ(bad.calls(), before);
}

TEST(Endpoints, TheOnlyEndpointIsNotEjected) {
  FaultyService bad(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {bad.address()}, .retry = "{max_attempts: 1}"});
  RunLoad({NewChannel(sidecar.address())}, {.calls = 50});
  EXPECT_EQ(bad.calls(), 50);
  EXPECT_EQ(sidecar.Sum("levee_endpoints", {R"(state="ejected")"}), 0);
}

TEST(Endpoints, AnswersOfTheApplicationDoNotEject) {
  FaultyService good;
  FaultyService strict([](const SeenCall&) { return Fails(StatusCode::NOT_FOUND); });
  SidecarProcess sidecar({.endpoints = {good.address(), strict.address()}, .retry = kEagerRetry});
  RunLoad({NewChannel(sidecar.address())}, {.calls = 200});
  EXPECT_EQ(sidecar.Sum("levee_endpoints", {R"(state="ejected")"}), 0);
}

// Answers take 20 ms, and only honest calls get any.
Answer AnswerTheHonest(const SeenCall& call) {
  if (!call.metadata.contains("x-honest")) return Answer{.delay = kLongerThanAnyTest};
  return Answer{.delay = std::chrono::milliseconds(20)};
}

TEST(Endpoints, H9_DeadlinesThatLeaveNoAnswerItsTimeEjectNone) {
  const FaultyService services[4] = {FaultyService(AnswerTheHonest), FaultyService(AnswerTheHonest),
                                     FaultyService(AnswerTheHonest),
                                     FaultyService(AnswerTheHonest)};
  std::vector<std::string> endpoints;
  for (const FaultyService& service : services) endpoints.push_back(service.address());
  SidecarProcess sidecar({.endpoints = endpoints, .retry = kNoRetry});
  RawClient honest(sidecar.address());
  const auto call_honestly = [&] {
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(honest.AnswerTo(honest.Call({{"x-honest", "1"}})).grpc_status(), "0");
    }
  };
  call_honestly();
  RawClient hasty(sidecar.address());
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(hasty.AnswerTo(hasty.Call({{"grpc-timeout", "900u"}})).grpc_status(), "4");
  }
  EXPECT_EQ(sidecar.Sum("levee_endpoints", {R"(state="ejected")"}), 0);
  call_honestly();
}

// EndpointLoad has it on virtual time that these are few at first.
TEST(Endpoints, AnEndpointThatComesBackIsGivenCallsAgain) {
  FaultyService stays;
  const ReservedPort reserved;
  SidecarProcess sidecar(
      {.endpoints = {stays.address(), reserved.address()}, .upstream = kReconnect});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_TRUE(sidecar.WaitForSum("levee_endpoints", {R"(state="failing")"}, 1));
  FaultyService comes_back([](const SeenCall&) { return Answer(); }, {.port = reserved.port()});
  EXPECT_TRUE(sidecar.WaitForSum("levee_endpoints", {R"(state="ready")"}, 2));
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(CallUnary(channel).status.ok());
    return comes_back.calls() > 0;
  }));
}

// EndpointSet has it on virtual time.
TEST(EndpointsSoak, CallsGoToTheEndpointThatIsFaster) {
  FaultyService fast;
  FaultyService slow([](const SeenCall&) {
    Answer answer;
    answer.delay = std::chrono::milliseconds(300);
    return answer;
  });
  SidecarProcess sidecar({.endpoints = {fast.address(), slow.address()}});
  const auto codes = RunLoad({NewChannel(sidecar.address())}, {.calls = 1000, .at_once = 4});
  EXPECT_EQ(codes.at(StatusCode::OK), 1000);
  EXPECT_LT(slow.calls(), 100);
}

TEST(Endpoints, LocalhostIsLookedUpWithoutAServer) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {"dns:localhost:" + std::to_string(service.port())}});
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
}

using EndpointsByName = NamedEndpoints;

TEST_F(EndpointsByName, AllAddressesOfANameGetCalls) {
  FaultyService first;
  FaultyService second([](const SeenCall&) { return Answer(); },
                       {.port = first.port(), .at = "127.0.0.2"});
  dns.Set("cart.shop.test", {.addresses = {"127.0.0.1", "127.0.0.2"}});
  const auto sidecar = Run("dns:cart:" + std::to_string(first.port()));
  const ChannelPtr channel = NewChannel(sidecar->address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_TRUE(sidecar->WaitForSum("levee_endpoints", {R"(state="ready")"}, 2));
  const auto codes = RunLoad({channel}, {.calls = 200});
  EXPECT_EQ(codes.at(StatusCode::OK), 200);
  EXPECT_GT(first.calls(), 0);
  EXPECT_GT(second.calls(), 0);
}

TEST_F(EndpointsByName, TheMarkOfTheFirstCallKnowsThatTheNameHasTwoAddresses) {
  FaultyService first(AlwaysFail());
  FaultyService second(AlwaysFail(), {.port = first.port(), .at = "127.0.0.2"});
  dns.Set("cart.shop.test", {.addresses = {"127.0.0.1", "127.0.0.2"}});
  const auto sidecar = Run("dns:cart:" + std::to_string(first.port()), "{max_attempts: 1}");
  const Reply reply = CallUnary(NewChannel(sidecar->address()));
  EXPECT_THAT(Values(reply.trailers, "levee-overload"), StartsWith("endpoint;"));
  EXPECT_EQ(Values(reply.trailers, "grpc-retry-pushback-ms"), "");
}

TEST_F(EndpointsByName, ANameThatDoesNotExistIsUnavailable) {
  const auto sidecar = Run("dns:nowhere.test:1");
  const Reply reply = CallUnary(NewChannel(sidecar->address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(), "cannot resolve nowhere.test: domain name not found");
}

TEST_F(EndpointsByName, AServerThatHangsDoesNotHoldUpTheEnd) {
  dns.Set("hangs.test", {.silent_for = ScriptedDns::kA});
  const auto sidecar = Run("dns:hangs.test:1");
  const Reply reply =
      CallUnary(NewChannel(sidecar->address()), "x", [](grpc::ClientContext& context) {
        context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
      });
  EXPECT_EQ(reply.status.error_code(), StatusCode::DEADLINE_EXCEEDED);
}

// Of each of which the name server says nothing.
TEST_F(EndpointsByName, H13_MadeUpNamesOfOneCallerKeepNoOtherWaiting) {
  constexpr int kMadeUp = 900;
  const FaultyService service;
  const auto head = [](const std::string& authority) {
    HeaderList fields = RawClient::CallHead();
    fields[3].second = authority;
    return fields;
  };
  dns.Set("honest.test", {.addresses = {"127.0.0.1"}});
  const auto sidecar = Run("authority:");
  RawClient attacker(sidecar->address());
  for (int i = 0; i < kMadeUp; ++i) {
    const std::string name = "made-up-" + std::to_string(i) + ".test";
    dns.Set(name, {.silent_for = ScriptedDns::kA});
    attacker.Open(head(name + ":80"), true);
  }
  ASSERT_TRUE(sidecar->WaitForSum("levee_active_calls", {}, kMadeUp));
  RawClient honest(sidecar->address());
  const int32_t call = honest.Open(head("honest.test:" + std::to_string(service.port())), false);
  honest.WriteData(call, GrpcMessage("hello"), true);
  EXPECT_EQ(honest.AnswerTo(call).grpc_status(), "0");
  EXPECT_GT(sidecar->Sum("levee_active_calls"), kMadeUp / 2);
}

TEST(Endpoints, AuthoritiesBeyondTheLimitAreServedAsWell) {
  SidecarProcess sidecar({.endpoints = {"authority:"}, .more = "limits: {destinations: 2}\n"});
  std::vector<std::unique_ptr<FaultyService>> services;
  for (int i = 0; i < 5; ++i) services.push_back(std::make_unique<FaultyService>());
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int round = 0; round < 2; ++round) {
    for (const auto& service : services) {
      const Reply reply = CallUnary(channel, "x", [&](grpc::ClientContext& context) {
        context.set_authority(service->address());
      });
      EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
    }
  }
  for (const auto& service : services) EXPECT_EQ(service->calls(), 2);
  EXPECT_GT(sidecar.Sum("levee_limit_hits_total", {R"(limit="destinations")"}), 0);
  EXPECT_LE(sidecar.Sum("levee_upstream_connections"), 2);
}

TEST(Endpoints, AddressesWhereNobodyListensTakeNoPlaceOfADestinationThatServed) {
  RawUpstream serving(ForEach(AnswerWell));
  SidecarProcess sidecar({.endpoints = {"authority:"},
                          .retry = "{max_attempts: 1}",
                          .more = "limits: {destinations: 10}\n"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  const auto call = [&](const std::string& authority) {
    const auto address = [&](grpc::ClientContext& context) { context.set_authority(authority); };
    return CallUnary(channel, "x", address).status.ok();
  };
  EXPECT_TRUE(call(serving.address()));
  for (int i = 1; i <= 50; ++i) EXPECT_FALSE(call("127.77.0." + std::to_string(i) + ":1"));
  EXPECT_TRUE(call(serving.address()));
  EXPECT_EQ(serving.connections(), 1);
  EXPECT_GT(sidecar.Sum("levee_limit_hits_total", {R"(limit="destinations")"}), 0);
}

// Also for the budget of its retries, which comes with the destination, and for rate limits.
TEST(Endpoints, HoweverAnAuthorityIsSpelledItIsOneDestination) {
  FaultyService service;
  const std::string port = std::to_string(service.port());
  SidecarProcess sidecar({.endpoints = {"authority:"},
                          .policy = ", rate_limit: [{name: each, rate: 1/h, key: [authority]}]",
                          .more = "limits: {destinations: 1}\n"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  const auto call = [&](const std::string& authority) {
    const auto address = [&](grpc::ClientContext& context) { context.set_authority(authority); };
    return CallUnary(channel, "x", address).status.error_code();
  };
  EXPECT_EQ(call("127.0.0.1:" + port), StatusCode::OK);
  for (const char* other : {"127.0.0.1:0", "[::ffff:127.0.0.1]:", "[::ffff:7f00:1]:"}) {
    EXPECT_EQ(call(other + port), StatusCode::RESOURCE_EXHAUSTED) << other;
  }
  EXPECT_EQ(sidecar.Sum("levee_limit_hits_total", {R"(limit="destinations")"}), 0);
}

TEST(Endpoints, ADestinationThatGoesKeepsItsCalls) {
  FaultyService first, second, third;
  SidecarProcess sidecar({.endpoints = {"authority:"}, .more = "limits: {destinations: 1}\n"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  ByteCall chat(channel, "/test.Echo/Chat");
  chat.context().set_authority(first.address());
  ASSERT_TRUE(chat.Start());
  ASSERT_TRUE(chat.Write("one"));
  EXPECT_EQ(chat.Read(), "one");
  for (const FaultyService* service : {&second, &third, &first}) {
    const Reply reply = CallUnary(channel, "x", [&](grpc::ClientContext& context) {
      context.set_authority(service->address());
    });
    EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  }
  ASSERT_TRUE(chat.Write("two"));
  EXPECT_EQ(chat.Read(), "two");
  ASSERT_TRUE(chat.HalfClose());
  EXPECT_TRUE(chat.Finish().ok());
}

}  // namespace
}  // namespace levee
