// SPDX-License-Identifier: Apache-2.0
// Calls and connections that are refused, and how clearly.
#include <chrono>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/raw_client.h"
#include "integration/scripted.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Ended RunConfig(const std::string& text) {
  const TempFile file(text);
  Ended ended = RunToEnd(LEVEE_BINARY, {"run", "--config", file.path()});
  // Faults start with the file's name, which is not the same twice.
  for (size_t at = 0; (at = ended.errors.find(file.path(), at)) != std::string::npos;) {
    ended.errors.replace(at, file.path().size(), "F");
  }
  return ended;
}

TEST(Rejects, A6_ABadPolicyFileIsReportedWithAllFaultsAtOnce) {
  const Ended ended = RunConfig(
      "upstreams: [{name: shop, endpoints: [\"127.0.0.1:1\"]}]\n"
      "routes: [{upstream: shopp, policy: default}]\n"
      "policies:\n"
      "  - name: default\n"
      "    retry:\n"
      "      max_attempts: 0\n"
      "      codes: [UNAVAILABEL]\n"
      "      backoff: {initial: 0ms, multiplier: 0.5}\n");
  EXPECT_EQ(ended.exit, 1);
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(ended.errors,
              AllOf(HasSubstr("F:2:21: "), HasSubstr("routes[0].upstream"), HasSubstr("F:6:21: "),
                    HasSubstr("max_attempts"), HasSubstr("F:7:"), HasSubstr("UNAVAILABLE"),
                    HasSubstr("backoff.initial"), HasSubstr("backoff.multiplier")));
}

TEST(Rejects, ABusyPortIsNamedWithTheFieldToChange) {
  const TcpListener busy;
  const Ended ended =
      RunConfig("listeners: [{name: egress, address: \"" + busy.address() +
                "\"}]\nmetrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n");
  EXPECT_EQ(ended.exit, 1);
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(ended.errors, AllOf(HasSubstr(busy.address()), HasSubstr("in use"),
                                  HasSubstr("listeners[0].address")));
}

TEST(Rejects, ABusyMetricsPortIsNamedWithTheFieldToChange) {
  const TcpListener busy;
  const Ended ended =
      RunConfig("listeners: [{name: egress, address: \"127.0.0.1:0\"}]\nmetrics: {address: \"" +
                busy.address() + "\"}\nadmin: {address: none}\n");
  EXPECT_EQ(ended.exit, 1);
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(ended.errors, AllOf(HasSubstr(busy.address()), HasSubstr("metrics.address")));
}

TEST(Rejects, WrongUsageExitsWithTwo) {
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {}).exit, 2);
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"rum"}).exit, 2);
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"run", "--no-such-option"}).exit, 2);
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"run", "--workers", "0"}).exit, 2);
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"version"}).exit, 0);
}

TEST(Rejects, AFaultyAddressAfterToIsWrongUsage) {
  const Ended ended = RunToEnd(LEVEE_BINARY, {"run", "--to", "cart"});
  EXPECT_EQ(ended.exit, 2);
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(ended.errors, AllOf(HasSubstr("--to"), HasSubstr("HOST:PORT")));
}

TEST(Rejects, AFaultyFileIsNoWrongUsageEvenIfToIsFaultyAsWell) {
  const TempFile file("policies: [{name: default, retry: {max_attempts: 0}}]\n");
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"run", "--to", "cart", "--config", file.path()}).exit, 1);
}

TEST(Rejects, ACommandWhoseOutputCannotBeWrittenFails) {
  const TempFile file("drain: {timeout: 1s}\n");
  const TempFile service_config("{\"methodConfig\": []}");
  for (const std::string& command : {std::string("version"), "check " + file.path(),
                                     "import grpc-service-config " + service_config.path()}) {
    const std::string line = LEVEE_BINARY " " + command;
    EXPECT_EQ(RunToEnd("/bin/sh", {"-c", line + " >/dev/null"}).exit, 0) << command;
    const Ended ended = RunToEnd("/bin/sh", {"-c", line + " >/dev/full"});
    EXPECT_EQ(ended.exit, 1) << command;
    EXPECT_THAT(ended.errors, HasSubstr("cannot be written")) << command;
  }
}

// As `levee explain FILE | head` ends.
TEST(Rejects, AReaderOfACommandThatHasGoneIsNoFaultToTellOf) {
  const Ended ended =
      RunToEnd("/bin/bash", {"-c", "exec 3> >(:); wait $!; exec " LEVEE_BINARY " version >&3"});
  EXPECT_EQ(ended.exit, 1);
  EXPECT_EQ(ended.errors, "");
}

class Refusing : public testing::Test {
 protected:
  FaultyService service_;
  SidecarProcess sidecar_{ConfigParts{.endpoints = {service_.address()}}};
};

TEST(Rejects, ACallWithoutRouteIsUnimplemented) {
  SidecarProcess sidecar({.endpoints = {"127.0.0.1:1"},
                          .route = "match: {authority: \"*\", method: \"/known.Service/*\"}, "});
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("/test.Echo/Unary"));
  EXPECT_EQ(sidecar.Sum("levee_calls_total", {R"(upstream="none")", R"(code="UNIMPLEMENTED")"}), 1);
  EXPECT_EQ(sidecar.Sum("levee_downstream_rejects_total", {R"(reason="no_route")"}), 1);
}

TEST_F(Refusing, ARequestThatIsNotGrpcGets415) {
  RawClient client(sidecar_.address());
  const RawAnswer answer = client.AnswerTo(client.Open({{":method", "GET"},
                                                        {":scheme", "http"},
                                                        {":path", "/"},
                                                        {":authority", "shop.test"},
                                                        {"accept", "text/html"}},
                                                       true));
  EXPECT_EQ(Values(answer.head, ":status"), "415");
  EXPECT_THAT(answer.body, HasSubstr("gRPC"));
  // The connection is as good as before.
  EXPECT_EQ(client.AnswerTo(client.Call()).grpc_status(), "0");
  EXPECT_EQ(sidecar_.Sum("levee_downstream_rejects_total", {R"(reason="not_grpc")"}), 1);
}

TEST_F(Refusing, AnHttp1RequestGets415InWords) {
  TcpConnection connection(sidecar_.address());
  connection.Send("GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n");
  EXPECT_THAT(connection.ReadAll(),
              AllOf(StartsWith("HTTP/1.1 415 "), HasSubstr("HTTP/2 without TLS")));
  EXPECT_EQ(sidecar_.Sum("levee_downstream_rejects_total", {R"(reason="not_http2")"}), 1);
}

TEST_F(Refusing, AMalformedFrameEndsItsConnectionAlone) {
  ByteCall other(NewChannel(sidecar_.address()), "/test.Echo/Chat");
  ASSERT_TRUE(other.Start());
  ASSERT_TRUE(other.Write("before"));
  EXPECT_EQ(other.Read(), "before");

  RawClient client(sidecar_.address());
  const int32_t stream = client.Open(RawClient::CallHead(), false);
  ASSERT_TRUE(service_.WaitFor([&] { return service_.calls() == 2; }));
  client.WriteData(0, "DATA belongs to a stream", false);
  EXPECT_EQ(client.ReadGoaway(), static_cast<uint32_t>(H2Error::kProtocol)) << stream;
  EXPECT_GE(sidecar_.Sum("levee_downstream_rejects_total", {R"(reason="protocol_error")"}), 1);
  EXPECT_TRUE(service_.WaitFor([&] { return service_.cancelled() == 1; }));

  ASSERT_TRUE(other.Write("after"));
  EXPECT_EQ(other.Read(), "after");
}

TEST_F(Refusing, MetadataOverItsLimitFailsTheCallAlone) {  // C10
  RawClient client(sidecar_.address());
  const RawAnswer bytes = client.AnswerTo(client.Call({{"x-big", std::string(150'000, 'b')}}));
  EXPECT_EQ(bytes.grpc_status(), "8");
  EXPECT_THAT(bytes.grpc_message(), HasSubstr("limits.metadata_bytes"));
  HeaderList many;
  for (int i = 0; i < 1200; ++i) many.emplace_back("x-" + std::to_string(i), "1");
  EXPECT_EQ(client.AnswerTo(client.Call(many)).grpc_status(), "8");
  EXPECT_EQ(client.AnswerTo(client.Call()).grpc_status(), "0");
  EXPECT_EQ(service_.calls(), 1);
  EXPECT_EQ(sidecar_.Sum("levee_downstream_rejects_total", {R"(reason="metadata")"}), 2);
}

TEST_F(Refusing, A29_AnExpiredCallNeverReachesTheService) {
  RawClient client(sidecar_.address());
  for (const char* timeout : {"0n", "1n", "999u"}) {
    EXPECT_EQ(client.AnswerTo(client.Call({{"grpc-timeout", timeout}})).grpc_status(), "4");
  }
  EXPECT_EQ(client.AnswerTo(client.Call()).grpc_status(), "0");
  EXPECT_EQ(service_.calls(), 1);
}

TEST_F(Refusing, A27_CallersThatVanishWithAResetLeaveNothingBehind) {
  for (int i = 0; i < 20; ++i) {
    RawClient client(sidecar_.address());
    client.Open(RawClient::CallHead(), false);
    client.connection().Abort();
  }
  EXPECT_TRUE(sidecar_.WaitForSum("levee_calls_total", {R"(code="CANCELLED")"}, 20));
  EXPECT_TRUE(sidecar_.WaitForSum("levee_downstream_connections", {}, 0));
  EXPECT_EQ(sidecar_.Sum("levee_active_calls"), 0);
}

TEST(Rejects, ACallToTheSidecarItselfIsRefusedWithTheCure) {
  SidecarProcess sidecar({.endpoints = {"authority:"}});
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(reply.status.error_message(),
              AllOf(HasSubstr("set the channel's authority"), HasSubstr("--to")));
  EXPECT_EQ(sidecar.Sum("levee_calls_total"), 1);  // It did not call itself.
  EXPECT_EQ(sidecar.Sum("levee_retries_total"), 0);
}

// Unless it is refused, a call that goes round ends by its deadline.
void EndInTime(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
}

TEST(Rejects, H2_ACallToTheSidecarItselfIsRefusedHoweverItsAddressIsWritten) {
  SidecarProcess sidecar({.endpoints = {"authority:"}, .retry = kNoRetry});
  const std::string port = sidecar.address().substr(sidecar.address().rfind(':'));
  const std::string hosts[] = {"127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost"};
  for (const std::string& host : hosts) {
    const Reply reply =
        CallUnary(NewChannel(sidecar.address()), "x", [&](grpc::ClientContext& context) {
          context.set_authority(host + port);
          EndInTime(context);
        });
    EXPECT_EQ(reply.status.error_code(), StatusCode::UNIMPLEMENTED) << host;
    EXPECT_THAT(reply.status.error_message(), HasSubstr("--to")) << host;
  }
  EXPECT_EQ(sidecar.Sum("levee_calls_total"), std::size(hosts));
}

// Two sidecars, each of which is the other's upstream. No address tells either of them.
TEST(Rejects, H2_ACallThatComesBackThroughAnotherSidecarIsRefusedAtItsSecondTurn) {
  SidecarProcess one({.endpoints = {"127.0.0.1:1"}});
  SidecarProcess other({.endpoints = {one.address()}});
  one.Rewrite({.endpoints = {other.address()}});
  ASSERT_TRUE(one.WaitForSum("levee_config_reloads_total", {R"(result="success")"}, 1));
  const Reply reply = CallUnary(NewChannel(one.address()), "x", EndInTime);
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(reply.status.error_message(),
              AllOf(HasSubstr("has come back"), HasSubstr("--to HOST:PORT")));
  EXPECT_EQ(one.Sum("levee_calls_total"), 2);
  EXPECT_EQ(other.Sum("levee_calls_total"), 1);
  EXPECT_EQ(one.Sum("levee_downstream_rejects_total", {R"(reason="loop")"}), 1);
}

TEST(Rejects, AnAuthorityThatCannotBeDialledIsExplained) {
  SidecarProcess sidecar({.endpoints = {"authority:"}});
  const Reply reply = CallUnary(NewChannel(sidecar.address()), "x",
                                [](grpc::ClientContext& c) { c.set_authority("no-port-here"); });
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("no-port-here"));
}

}  // namespace
}  // namespace levee
