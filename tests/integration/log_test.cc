// SPDX-License-Identifier: Apache-2.0
// What the real binary tells its operators on standard error.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/event_lines.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/log_lines.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

size_t LineCount(const SidecarProcess& sidecar) {
  const std::string errors = sidecar.process().Errors();
  return static_cast<size_t>(std::count(errors.begin(), errors.end(), '\n'));
}

// A sidecar whose one endpoint refuses connections.
ConfigParts Refused(const ReservedPort& port) {
  return {.endpoints = {port.address()},
          .retry = "{max_attempts: 1}",
          .upstream = ", reconnect: {initial: 50ms, max: 50ms}"};
}

void CallUntilOk(const ChannelPtr& channel) {
  ASSERT_TRUE(Eventually([&] { return CallUnary(channel).status.ok(); }));
}

TEST(Logging, AnUnreachableUpstreamIsToldOfOnceAndItsReturnOnce) {
  const ReservedPort port;
  SidecarProcess sidecar(Refused(port), {"--workers", "2"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  const ChannelPtr other = NewChannel(sidecar.address());
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(CallUnary(i % 2 == 0 ? channel : other).status.ok());
  }
  EXPECT_THAT(AwaitLines(sidecar, "endpoint_unreachable"),
              ElementsAre(AllOf(HasSubstr("upstream=shop endpoint=" + port.address()),
                                HasSubstr("reason=\"connection refused\""))));
  FaultyService service([](const SeenCall&) { return Answer(); }, {.port = port.port()});
  CallUntilOk(channel);
  CallUntilOk(other);
  EXPECT_THAT(AwaitLines(sidecar, "endpoint_reachable"),
              ElementsAre(HasSubstr("upstream=shop endpoint=" + port.address())));
  EXPECT_THAT(LinesOf(sidecar, "endpoint_unreachable"), SizeIs(1));
}

TEST(Logging, FailingCallsWriteNoLineEach) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = "{max_attempts: 3}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int i = 0; i < 300; ++i) EXPECT_FALSE(CallUnary(channel).status.ok());
  // The start, its ports, and that the budget is used up.
  EXPECT_THAT(AwaitLines(sidecar, "budget_exhausted"), ElementsAre(HasSubstr("upstream=shop")));
  EXPECT_LE(LineCount(sidecar), 6u) << sidecar.process().Errors();
}

TEST(Logging, AtDebugAGarbageConnectionShowsWithItsFirstBytesAndTheReason) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}}, {"--log-level", "debug"});
  TcpConnection garbage(sidecar.address());
  EXPECT_TRUE(garbage.Send("\x16\x03\x01 garbage\n2026 forged"));
  garbage.ReadAll();
  EXPECT_THAT(
      AwaitLines(sidecar, "connection_refused"),
      ElementsAre(AllOf(ContainsRegex("listener=egress peer=127.0.0.1:[0-9]+ reason=not_http2"),
                        HasSubstr("first_bytes=\"\\u0016\\u0003\\u0001 garbage\\n2026 forged\""))));
  EXPECT_THAT(LinesOf(sidecar, "connection_accepted"), SizeIs(1));
}

TEST(Logging, AtDebugABrokenHttp2ConnectionShowsWithTheReason) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}}, {"--log-level", "debug"});
  TcpConnection broken(sidecar.address());
  EXPECT_TRUE(broken.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nthis is no frame at all"));
  broken.ReadAll();
  EXPECT_THAT(AwaitLines(sidecar, "protocol_error"),
              ElementsAre(ContainsRegex("peer=127.0.0.1:[0-9]+ reason=")));
  EXPECT_THAT(AwaitLines(sidecar, "connection_closed"),
              ElementsAre(HasSubstr("reason=\"protocol error\"")));
  EXPECT_THAT(LinesOf(sidecar, "connection_identified"), ElementsAre(HasSubstr("protocol=http2")));
}

// A user whose channel has TLS and goes through a tunnel may believe that its calls are retried.
TEST(Logging, TlsInTunnelsIsToldOnceForADestinationAndShown) {
  TcpListener destination;
  SidecarProcess sidecar(
      {.endpoints = {destination.address()}, .admin = "{address: \"127.0.0.1:0\"}"});
  for (int i = 0; i < 2; ++i) {
    TcpConnection tunnel(sidecar.address());
    ASSERT_TRUE(OpenTunnel(tunnel, destination.address()));
    ASSERT_TRUE(tunnel.Send("\x16\x03\x01 hello"));
    TcpConnection accepted(destination.Accept());
    EXPECT_EQ(accepted.Read(9), "\x16\x03\x01 hello");
  }
  EXPECT_THAT(AwaitLines(sidecar, "tunnel_carries_tls"),
              ElementsAre(HasSubstr("destination=" + destination.address())));
  EXPECT_THAT(HttpGet(sidecar.AwaitAddress("admin"), "/api/v1/state").body,
              HasSubstr("\"tls_destinations\":[\"" + destination.address() + "\"]"));
}

TEST(Logging, TlsOfACallerThatWasSilentAtFirstIsTold) {
  TcpListener destination;
  SidecarProcess sidecar({.endpoints = {destination.address()}});
  TcpConnection tunnel(sidecar.address());
  ASSERT_TRUE(OpenTunnel(tunnel, destination.address()));
  TcpConnection accepted(destination.Accept());  // The caller has been silent for so long.
  ASSERT_TRUE(tunnel.Send("\x16\x03\x01 hello"));
  EXPECT_EQ(accepted.Read(9), "\x16\x03\x01 hello");
  EXPECT_THAT(AwaitLines(sidecar, "tunnel_carries_tls"),
              ElementsAre(HasSubstr("destination=" + destination.address())));
}

TEST(Logging, AtDebugConnectionsAndDecisionsShow) {
  FaultyService service(FailFirst(1));
  SidecarProcess sidecar(
      {.endpoints = {service.address()}, .retry = "{max_attempts: 2, budget: {ratio: 100}}"},
      {"--log-level", "trace"});
  {
    const ChannelPtr channel = NewChannel(sidecar.address());
    EXPECT_TRUE(CallUnary(channel).status.ok());
    EXPECT_TRUE(CallUnary(channel).status.ok());
  }
  EXPECT_THAT(
      AwaitLines(sidecar, "call_decided"),
      ElementsAre(AllOf(HasSubstr("upstream=shop method=/test.Echo/Unary code=OK"),
                        HasSubstr("attempts=2"), HasSubstr("retried once after UNAVAILABLE"))));
  EXPECT_THAT(LinesOf(sidecar, "upstream_connecting"),
              ElementsAre(HasSubstr("endpoint=" + service.address())));
  EXPECT_THAT(LinesOf(sidecar, "upstream_connected"), SizeIs(1));
  EXPECT_THAT(AwaitLines(sidecar, "connection_closed"), SizeIs(1));
  service.ShutDownGracefully();
  EXPECT_GE(AwaitLines(sidecar, "upstream_goaway").size(), 1u);
  EXPECT_GE(AwaitLines(sidecar, "upstream_closed").size(), 1u);
}

TEST(Logging, AtInfoConnectionsAndDecisionsDoNotShow) {
  FaultyService service(FailFirst(1));
  SidecarProcess sidecar(
      {.endpoints = {service.address()}, .retry = "{max_attempts: 2, budget: {ratio: 100}}"});
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
  TcpConnection garbage(sidecar.address());
  EXPECT_TRUE(garbage.Send("garbage"));
  garbage.ReadAll();
  EXPECT_TRUE(sidecar.WaitForSum("levee_downstream_connections", {}, 0));
  for (const char* event : {"connection_accepted", "connection_refused", "connection_closed",
                            "call_decided", "upstream_connected"}) {
    EXPECT_THAT(LinesOf(sidecar, event), SizeIs(0)) << event;
  }
}

TEST(Logging, AReloadAListenerThatGoesAndTheDrainAreToldOf) {
  FaultyService service;
  const std::string more =
      "listeners: [{name: a, address: \"127.0.0.1:0\"}, {name: b, address: \"127.0.0.1:0\"}]\n";
  const std::string less = "listeners: [{name: a, address: \"127.0.0.1:0\"}]\n";
  const std::string rest = "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n";
  TempFile file(more + rest);
  const auto sidecar = SidecarProcess::Run({"--config", file.path()});
  EXPECT_THAT(AwaitLines(*sidecar, "listener_opened", 3), SizeIs(3));
  RewriteFile(file.path(), less + rest);
  EXPECT_THAT(AwaitLines(*sidecar, "config_in_effect"), ElementsAre(HasSubstr("sha256=")));
  EXPECT_THAT(AwaitLines(*sidecar, "listener_closed"),
              ElementsAre(HasSubstr("name=b address=127.0.0.1:")));
  RewriteFile(file.path(), "listeners: 7\n");
  EXPECT_THAT(AwaitLines(*sidecar, "config_refused"), ElementsAre(HasSubstr("faults=1")));
  EXPECT_THAT(AwaitLines(*sidecar, "config_fault"), ElementsAre(HasSubstr(file.path() + ":1:")));
  sidecar->process().Signal(SIGTERM);
  EXPECT_EQ(sidecar->process().WaitForExit(), 0);
  for (const char* event : {"drain_begun", "drain_goaway", "drain_ended", "stopped"}) {
    EXPECT_THAT(LinesOf(*sidecar, event), SizeIs(1)) << event;
  }
}

TEST(Logging, AsJsonEveryLineIsAnObjectWithTheSameMembers) {
  const ReservedPort port;
  SidecarProcess sidecar(Refused(port), {"--log-format", "json"});
  EXPECT_FALSE(CallUnary(NewChannel(sidecar.address())).status.ok());
  sidecar.process().Signal(SIGTERM);
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
  std::vector<std::string> events;
  for (const auto text : absl::StrSplit(sidecar.process().Errors(), '\n', absl::SkipEmpty())) {
    const LogLine line{std::string(text)};
    EXPECT_THAT(line.members(), ElementsAre("event", "fields", "level", "message", "time"));
    EXPECT_THAT(line.Text("time"), testing::ContainsRegex("^20.*T.*Z$"));
    events.push_back(line.Text("event"));
  }
  EXPECT_THAT(events, testing::IsSupersetOf({"started", "listener_opened", "endpoint_unreachable",
                                             "drain_begun", "stopped"}));
}

TEST(Logging, OffWritesNothing) {
  const ReservedPort port;
  SidecarProcess sidecar(Refused(port), {"--log-level", "off"});
  EXPECT_FALSE(CallUnary(NewChannel(sidecar.address())).status.ok());
  EXPECT_EQ(sidecar.process().Errors(), "");
}

// A pipe with a name that nobody reads, and that is soon full.
class UnreadPipe {
 public:
  UnreadPipe() {
    EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
    reader_ = open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    fcntl(reader_, F_SETPIPE_SZ, 4096);
  }
  ~UnreadPipe() {
    close(reader_);
    unlink(path_.c_str());
  }
  UnreadPipe(const UnreadPipe&) = delete;
  UnreadPipe& operator=(const UnreadPipe&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_ = TempFile("").path() + ".pipe";
  int reader_;
};

TEST(Logging, CallsGoOnAndItEndsWhereNobodyReadsStandardError) {
  // Of each twenty calls one is retried, which is a line.
  FaultyService service([](const SeenCall& call) {
    return call.number % 20 == 0 ? Answer{.status = {grpc::StatusCode::UNAVAILABLE, "away"}}
                                 : Answer();
  });
  const UnreadPipe pipe;
  const auto sidecar = SidecarProcess::RunWithErrorsTo(
      pipe.path(),
      {.endpoints = {service.address()}, .retry = "{max_attempts: 3, backoff: {initial: 1ms}}"},
      "--log-level debug");
  const ChannelPtr channel = NewChannel(sidecar->address());
  const auto in_time = [](grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
  };
  for (int i = 0; i < 2000; ++i) {
    const Reply reply = CallUnary(channel, "hello", in_time);
    ASSERT_TRUE(reply.status.ok()) << i << ": " << reply.status.error_message();
  }
  sidecar->process().Signal(SIGTERM);
  EXPECT_EQ(sidecar->process().WaitForExit(), 0);
}

TEST(Logging, H10_AReaderThatGoesDoesNotEndTheSidecar) {
  const TempFile config(
      "listeners: [{name: egress, address: \"127.0.0.1:0\"}]\n"
      "metrics: {address: none}\n"
      "admin: {address: none}\n");
  Child sidecar("/bin/sh", {"-c", "exec " LEVEE_BINARY " run --config " + config.path() + " 2>&1"});
  std::optional<std::string> line;
  do {
    line = sidecar.ReadLine();
    ASSERT_TRUE(line.has_value());
  } while (!line->starts_with("listening egress"));
  sidecar.CloseOutput();
  sidecar.Signal(SIGTERM);  // It tells of its end.
  EXPECT_EQ(sidecar.WaitForExit(), 0);
}

}  // namespace
}  // namespace levee
