// SPDX-License-Identifier: Apache-2.0
// The ways in: TCP and Unix sockets, HTTP CONNECT, and what comes through its tunnels.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/raw_client.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"
#include "net/listener.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A sidecar with these listeners; every call goes where its authority says.
class Listening {
 public:
  explicit Listening(const std::string& listeners, const std::string& more = "")
      : config_("listeners: [" + listeners +
                "]\n"
                "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n" +
                more),
        sidecar_(SidecarProcess::Run({"--config", config_.path()})) {}

  SidecarProcess& operator*() { return *sidecar_; }
  SidecarProcess* operator->() { return sidecar_.get(); }

 private:
  TempFile config_;
  std::unique_ptr<SidecarProcess> sidecar_;
};

constexpr char kTcp[] = "{name: egress, address: \"127.0.0.1:0\"}";

// A folder of a test's own.
class TempFolder {
 public:
  TempFolder() { path_ = mkdtemp(name_); }
  ~TempFolder() { rmdir(path_.c_str()); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  char name_[32] = "/tmp/levee-XXXXXX";
  std::string path_;
};

ChannelPtr ChannelFor(const std::string& target, const std::string& authority) {
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, authority);
  return NewChannel(target, arguments);
}

// A channel that asks `proxy` by HTTP CONNECT, as gRPC does where grpc_proxy is set.
ChannelPtr ChannelThroughProxy(const std::string& target, const std::string& proxy) {
  setenv("grpc_proxy", ("http://" + proxy).c_str(), 1);
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  auto channel = grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
  unsetenv("grpc_proxy");
  return channel;
}

TEST(Listeners, LocalhostIsServedOnBothLoopbackAddresses) {
  if (!net::HasIpv6Loopback()) GTEST_SKIP() << "this system has no ::1";
  FaultyService service;
  Listening listening("{name: egress, address: \"localhost:0\"}",
                      "upstreams: [{name: service, endpoints: [\"" + service.address() +
                          "\"]}]\nroutes: [{upstream: service}]\n");
  const std::string address = listening->address();
  const std::string port = address.substr(address.rfind(':'));
  EXPECT_TRUE(CallUnary(NewChannel("127.0.0.1" + port)).status.ok());
  EXPECT_TRUE(CallUnary(NewChannel("ipv6:[::1]" + port)).status.ok());
}

TEST(UnixSocket, CarriesCallsAndGoesWithTheSidecar) {
  const TempFolder folder;
  const std::string path = folder / "egress.sock";
  FaultyService service(FailFirst(1));
  {
    Listening sidecar("{name: socket, address: \"unix:" + path + "\", mode: 0600}");
    EXPECT_EQ(sidecar->address("socket"), "unix:" + path);
    struct stat file {};
    ASSERT_EQ(stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
    const Reply reply = CallUnary(ChannelFor("unix:" + path, service.address()), "body");
    EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
    EXPECT_EQ(reply.body, "body");
    EXPECT_EQ(service.calls(), 2);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(UnixSocket, APathInUseIsAnErrorThatNamesTheField) {
  const TempFolder folder;
  const std::string address = "unix:" + (folder / "egress.sock");
  Listening first("{name: socket, address: \"" + address + "\"}");
  const TempFile config("listeners: [{name: socket, address: \"" + address +
                        "\"}]\nmetrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n");
  const Ended second = RunToEnd(LEVEE_BINARY, {"run", "--config", config.path()});
  EXPECT_EQ(second.exit, 1);
  EXPECT_THAT(second.errors, HasSubstr("another process listens there (set at "));
  EXPECT_THAT(second.errors, HasSubstr("listeners[0].address"));
}

TEST(Listeners, SeveralServeAtOnce) {
  const TempFolder folder;
  const std::string path = folder / "egress.sock";
  FaultyService service;
  Listening sidecar(std::string(kTcp) + ", {name: other, address: \"127.0.0.1:0\"}, " +
                    "{name: socket, address: \"unix:" + path + "\"}");
  for (const std::string& target :
       {sidecar->address("egress"), sidecar->address("other"), "unix:" + path}) {
    EXPECT_TRUE(CallUnary(ChannelFor(target, service.address())).status.ok()) << target;
  }
  EXPECT_EQ(service.calls(), 3);
}

TEST(HttpConnect, AGrpcClientWithAProxyIsServedAndRetried) {
  FaultyService service(FailFirst(1));
  Listening sidecar(kTcp);
  const Reply reply = CallUnary(ChannelThroughProxy(service.address(), sidecar->address()), "body");
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_EQ(reply.body, "body");
  EXPECT_EQ(service.calls(), 2);
  EXPECT_EQ(service.seen()[0].authority, service.address());
  EXPECT_TRUE(sidecar->WaitForSum("levee_retries_total", {R"(upstream="anywhere")"}, 1));
}

// Sends a whole call with that :authority and returns its stream.
int32_t CallFor(RawClient& client, const std::string& authority) {
  HeaderList head = RawClient::CallHead();
  for (auto& [name, value] : head) {
    if (name == ":authority") value = authority;
  }
  const int32_t stream = client.Open(head, false);
  client.WriteData(stream, GrpcMessage("hello"), true);
  return stream;
}

TEST(HttpConnect, ACallArrivesAtTheTunnelsDestinationWithItsOwnAuthority) {
  FaultyService service, other;
  Listening sidecar(kTcp);
  RawClient client(sidecar->address(), "", service.address());
  EXPECT_EQ(client.AnswerTo(CallFor(client, other.address())).grpc_status(), "0");
  ASSERT_EQ(service.calls(), 1);
  EXPECT_EQ(service.seen()[0].authority, other.address());
  EXPECT_EQ(other.calls(), 0);
}

// A route list is also a list of what may be reached.
TEST(HttpConnect, AForgedAuthorityReachesNothingThatTheTunnelsDestinationDoesNot) {
  FaultyService service;
  Listening sidecar(kTcp,
                    "upstreams: [{name: shop, endpoints: [\"authority:\"]}]\n"
                    "routes: [{match: {authority: \"cart.test:*\"}, upstream: shop}]\n");
  RawClient client(sidecar->address(), "", service.address());
  const RawAnswer answer = client.AnswerTo(CallFor(client, "cart.test:1"));
  EXPECT_EQ(answer.grpc_status(), "12");
  EXPECT_THAT(answer.grpc_message(), HasSubstr("no route for authority"));
  EXPECT_EQ(service.calls(), 0);
}

TEST(HttpConnect, MadeUpAuthoritiesShareTheRateLimitOfTheDestination) {
  FaultyService service;
  Listening sidecar(kTcp,
                    "policies: [{name: default, rate_limit: [{name: r, rate: 1/h, burst: 2, "
                    "key: [authority]}]}]\n");
  RawClient client(sidecar->address(), "", service.address());
  for (const char* status : {"0", "0", "8", "8"}) {
    const std::string made_up = "made-up-" + std::to_string(service.calls()) + ":1";
    EXPECT_EQ(client.AnswerTo(CallFor(client, made_up)).grpc_status(), status);
  }
  EXPECT_EQ(service.calls(), 2);
}

TEST(HttpConnect, TheTunnelsDestinationIsTheAuthorityThatRoutesSee) {
  FaultyService service;
  Listening sidecar(kTcp, "upstreams: [{name: shop, endpoints: [\"" + service.address() +
                              "\"]}]\nroutes: [{match: {authority: \"cart.test:*\"}, "
                              "upstream: shop}]\n");
  RawClient client(sidecar->address(), "", "cart.test:50051");
  EXPECT_EQ(client.AnswerTo(client.Call()).grpc_status(), "0");
  EXPECT_EQ(service.calls(), 1);
  EXPECT_EQ(service.seen()[0].authority, "shop.test:50051");
}

// A connection through the sidecar, on which `first` has been sent.
std::unique_ptr<TcpConnection> Tunnel(SidecarProcess& sidecar, const std::string& destination,
                                      const std::string& first = "") {
  auto connection = std::make_unique<TcpConnection>(sidecar.address());
  EXPECT_TRUE(OpenTunnel(*connection, destination));
  connection->Send(first);
  return connection;
}

// Sends back what it gets, after a greeting of its own.
class EchoServer {
 public:
  explicit EchoServer(std::string greeting = "")
      : thread_([this, greeting] {
          const int fd = listener_.Accept();
          if (fd < 0) return;
          TcpConnection connection(fd);
          if (!greeting.empty()) connection.Send(greeting);
          for (;;) {
            const std::string bytes = connection.Read(4096);
            if (bytes.empty()) break;
            connection.Send(bytes);
          }
          connection.Send(" bye");
        }) {}
  ~EchoServer() {
    listener_.Shutdown();
    thread_.join();
  }
  std::string address() const { return listener_.address(); }

 private:
  TcpListener listener_;
  std::thread thread_;
};

TEST(Tunnel, OtherBytesThanHttp2PassUntouched) {
  EchoServer server;
  Listening sidecar(kTcp);
  const auto connection = Tunnel(*sidecar, server.address(), "\x16\x03\x01 hello");
  EXPECT_EQ(connection->Read(9), "\x16\x03\x01 hello");
  connection->Send("more");
  EXPECT_EQ(connection->Read(4), "more");
  EXPECT_TRUE(sidecar->WaitForSum("levee_tunnels", {}, 1));
  EXPECT_EQ(sidecar->Sum("levee_tunnelled_bytes_total", {R"(direction="sent")"}), 13);
  // A half-close goes on, and what comes afterwards comes back.
  connection->ShutdownWrite();
  EXPECT_EQ(connection->ReadAll(), " bye");
  EXPECT_TRUE(sidecar->WaitForSum("levee_tunnels", {}, 0));
  EXPECT_TRUE(sidecar->WaitForSum("levee_downstream_connections", {}, 0));
}

TEST(Tunnel, MegabytesPassWithoutLoss) {
  EchoServer server;
  Listening sidecar(kTcp);
  const auto connection = Tunnel(*sidecar, server.address());
  const std::string bytes = "\x16" + std::string(8 << 20, 'x') + "end";
  std::thread sender([&] {
    connection->Send(bytes);
    connection->ShutdownWrite();
  });
  EXPECT_TRUE(connection->ReadAll() == bytes + " bye");
  sender.join();
}

TEST(Tunnel, AnUpstreamMaySpeakFirst) {
  EchoServer server("220 ready");
  Listening sidecar(kTcp);
  const auto connection = Tunnel(*sidecar, server.address());
  EXPECT_EQ(connection->Read(9), "220 ready");
  connection->ShutdownWrite();
  EXPECT_EQ(connection->ReadAll(), " bye");
}

// An HTTP/2 server speaks first, too.
TEST(Tunnel, ACallerThatIsSlowToSpeakHttp2IsServedAndRetriedAsAnyOther) {
  FaultyService service(FailFirst(1));
  TcpListener destination;
  Listening sidecar(kTcp, "upstreams: [{name: shop, endpoints: [\"" + service.address() +
                              "\"]}]\nroutes: [{upstream: shop}]\n");
  std::unique_ptr<TcpConnection> server;
  RawClient client(sidecar->address(), "", destination.address(), [&] {
    server = std::make_unique<TcpConnection>(destination.Accept());  // The client seems silent.
    server->Send(std::string("\0\0\0\4\0\0\0\0\0", 9));
  });
  EXPECT_EQ(client.AnswerTo(client.Call()).grpc_status(), "0");
  EXPECT_EQ(service.calls(), 2);
  EXPECT_EQ(server->ReadAll(), "");
  EXPECT_EQ(sidecar->Sum("levee_tunnels"), 0);
  EXPECT_EQ(sidecar->Sum("levee_tunnelled_bytes_total"), 0);
  EXPECT_EQ(sidecar->Sum("levee_downstream_connections"), 1);
}

TEST(Tunnel, ADestinationThatRefusesClosesIt) {
  const ReservedPort refusing;
  Listening sidecar(kTcp);
  EXPECT_EQ(Tunnel(*sidecar, refusing.address(), "\x16 hello")->ReadAll(), "");
  EXPECT_TRUE(sidecar->WaitForSum("levee_downstream_connections", {}, 0));
}

TEST(Tunnel, TheSidecarItselfIsNoDestination) {
  Listening sidecar(kTcp);
  EXPECT_EQ(Tunnel(*sidecar, sidecar->address(), "\x16 hello")->ReadAll(), "");
  EXPECT_TRUE(sidecar->WaitForSum("levee_tunnel_failures_total", {R"(reason="loop")"}, 1));
}

TEST(Tunnel, H14_NeitherAreThePortsOfItsOperators) {
  SidecarProcess sidecar({.endpoints = {"127.0.0.1:1"}, .admin = "{address: \"127.0.0.1:0\"}"});
  const std::string drain =
      "POST /drain HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
  for (const char* of : {"metrics", "admin"}) {
    const std::string address = sidecar.AwaitAddress(of);
    const std::string port = address.substr(address.rfind(':'));
    for (const char* host : {"127.0.0.1", "[::ffff:127.0.0.1]"}) {
      EXPECT_EQ(Tunnel(sidecar, host + port, drain)->ReadAll(), "") << of << " by " << host;
    }
  }
  EXPECT_TRUE(sidecar.WaitForSum("levee_tunnel_failures_total", {R"(reason="loop")"}, 4));
  EXPECT_EQ(sidecar.HttpStatus("/readyz"), 200);  // It does not drain.
}

std::string AnswerTo(SidecarProcess& sidecar, const std::string& request) {
  TcpConnection connection(sidecar.address());
  connection.Send(request);
  return connection.ReadAll();
}

TEST(HttpConnect, ARequestThatNoProxyCanFollowGets400) {
  Listening sidecar(kTcp);
  EXPECT_THAT(AnswerTo(*sidecar, "CONNECT cart HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_TRUE(
      sidecar->WaitForSum("levee_downstream_rejects_total", {R"(reason="bad_connect")"}, 1));
}

TEST(Capture, WithoutConnectItIsRefused) {
  Listening sidecar("{name: egress, address: \"127.0.0.1:0\", capture: [h2c]}");
  EXPECT_THAT(AnswerTo(*sidecar, "CONNECT cart:1 HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_TRUE(
      sidecar->WaitForSum("levee_downstream_rejects_total", {R"(reason="not_captured")"}, 1));
}

TEST(Capture, WithoutH2cOnlyTunnelsAreServed) {
  FaultyService service;
  Listening sidecar("{name: egress, address: \"127.0.0.1:0\", capture: [connect]}");
  EXPECT_THAT(AnswerTo(*sidecar, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_TRUE(CallUnary(ChannelThroughProxy(service.address(), sidecar->address())).status.ok());
}

}  // namespace
}  // namespace levee
