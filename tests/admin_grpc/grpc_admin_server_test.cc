// SPDX-License-Identifier: Apache-2.0
// The admin gRPC port, asked by a real client.
#include "admin_grpc/grpc_admin_server.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "admin/fake_sidecar.h"
#include "admin/http_client.h"
#include "admin_grpc/admin_service.h"
#include "admin_grpc/gate.h"
#include "admin_grpc/raw_call.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "levee/admin/v1/admin.grpc.pb.h"
#include "net/event_loop.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kCheck = "/grpc.health.v1.Health/Check";
constexpr const char* kWatch = "/grpc.health.v1.Health/Watch";

// grpc.health.v1.HealthCheckRequest and the values of its answer's only field.
std::string Service(const std::string& name) {
  return name.empty() ? "" : std::string("\x0a") + static_cast<char>(name.size()) + name;
}
const std::string kServing = "\x08\x01";
const std::string kNotServing = "\x08\x02";
const std::string kServiceUnknown = "\x08\x03";

class GrpcAdminServerTest : public testing::Test {
 protected:
  GrpcAdminServerTest() {
    keeper_.Tick(sidecar_.At(0));
    auto server = Start({.host = "127.0.0.1"});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ =
        grpc::CreateChannel(server_->address().ToString(), grpc::InsecureChannelCredentials());
    stub_ = admin::v1::Admin::NewStub(channel_);
  }

  absl::StatusOr<std::unique_ptr<GrpcAdminServer>> Start(const ListenAddress& address) {
    return GrpcAdminServer::Start(address, sidecar_, keeper_);
  }
  // What reflection answers when it is asked for the file that has `symbol`.
  std::string Describe(const std::string& symbol) {
    return AskRaw(channel_, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                  std::string("\x22") + static_cast<char>(symbol.size()) + symbol);
  }
  grpc::Status GetState(const admin::v1::GetStateRequest& request, admin::v1::State& state) {
    grpc::ClientContext context;
    return stub_->GetState(&context, request, &state);
  }

  FakeSidecar sidecar_;
  StateKeeper keeper_{sidecar_, "instance-1"};
  std::unique_ptr<GrpcAdminServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<admin::v1::Admin::Stub> stub_;
};

// An open WatchState call.
struct Watching {
  Watching(admin::v1::Admin::Stub& stub, const std::string& upstream = "") {
    admin::v1::WatchStateRequest request;
    request.set_upstream(upstream);
    reader = stub.WatchState(&context, request);
  }
  // Empty if there is none.
  admin::v1::State Next() {
    admin::v1::State state;
    if (!reader->Read(&state)) state.Clear();
    return state;
  }
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<admin::v1::State>> reader;
};

TEST_F(GrpcAdminServerTest, GivesTheState) {
  keeper_.Tick(sidecar_.At(1));
  keeper_.Tick(sidecar_.At(2));
  admin::v1::GetStateRequest request;
  request.set_since(1);
  admin::v1::State state;
  const grpc::Status status = GetState(request, state);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(state.next(), 2);
  EXPECT_EQ(state.instance(), "instance-1");
  ASSERT_EQ(state.upstreams_size(), 1);
  EXPECT_EQ(state.upstreams(0).samples_size(), 1);
}

TEST_F(GrpcAdminServerTest, AnUnknownUpstreamIsNotFound) {
  admin::v1::GetStateRequest request;
  request.set_upstream("card");
  admin::v1::State state;
  const grpc::Status status = GetState(request, state);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "there is no upstream \"card\"");
  EXPECT_EQ(Watching(*stub_, "card").reader->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(GrpcAdminServerTest, AWatchGetsTheStateAndThenWhatEverySecondAdds) {
  keeper_.Tick(sidecar_.At(1));
  keeper_.Tick(sidecar_.At(2));
  Watching watching(*stub_);
  EXPECT_EQ(watching.Next().upstreams(0).samples_size(), 2);
  keeper_.Tick(sidecar_.At(3));
  const admin::v1::State third = watching.Next();
  EXPECT_EQ(third.next(), 3);
  ASSERT_EQ(third.upstreams(0).samples_size(), 1);
  EXPECT_EQ(third.upstreams(0).samples(0).number(), 3);
  keeper_.Tick(sidecar_.At(4));
  EXPECT_EQ(watching.Next().upstreams(0).samples(0).number(), 4);
}

TEST_F(GrpcAdminServerTest, AWatchThatIsReadLateMissesNothing) {
  Watching watching(*stub_);
  EXPECT_EQ(watching.Next().next(), 0);
  int second = 0;
  while (second < 200) keeper_.Tick(sidecar_.At(++second));
  uint32_t next = 0;
  while (next < 200) {
    const admin::v1::State state = watching.Next();
    ASSERT_EQ(state.upstreams_size(), 1);
    for (const auto& sample : state.upstreams(0).samples()) EXPECT_EQ(sample.number(), ++next);
    // Additions that could not be sent come with a later second.
    keeper_.Tick(sidecar_.At(++second));
  }
}

TEST_F(GrpcAdminServerTest, WatchesAreBoundedAndACancelledOneMakesRoom) {
  std::deque<Watching> watching;
  for (size_t i = 0; i < AdminService::kMaxWatching; ++i) {
    EXPECT_EQ(watching.emplace_back(*stub_).Next().instance(), "instance-1");
  }
  EXPECT_EQ(Watching(*stub_).reader->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  watching.front().context.TryCancel();
  EXPECT_EQ(watching.front().reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  // The server hears of it a little later.
  std::string instance;
  while (instance.empty()) instance = Watching(*stub_).Next().instance();
  EXPECT_EQ(instance, "instance-1");
  for (Watching& one : watching) one.context.TryCancel();
}

TEST_F(GrpcAdminServerTest, GivesTheConfigurationInBothFormats) {
  const auto snapshot = sidecar_.status().snapshot;
  admin::v1::GetConfigRequest request;
  admin::v1::ConfigText config;
  grpc::ClientContext first;
  EXPECT_TRUE(stub_->GetConfig(&first, request, &config).ok());
  EXPECT_EQ(config.text(), snapshot->effective.yaml);
  EXPECT_EQ(config.sha256(), snapshot->sha256);
  request.set_format(admin::v1::GetConfigRequest::FORMAT_JSON);
  grpc::ClientContext second;
  EXPECT_TRUE(stub_->GetConfig(&second, request, &config).ok());
  EXPECT_EQ(config.text(), snapshot->effective.json);
  request.set_format(static_cast<admin::v1::GetConfigRequest::Format>(7));
  grpc::ClientContext third;
  EXPECT_EQ(stub_->GetConfig(&third, request, &config).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(GrpcAdminServerTest, DrainsOnce) {
  admin::v1::DrainResponse response;
  grpc::ClientContext first;
  EXPECT_TRUE(stub_->Drain(&first, {}, &response).ok());
  EXPECT_TRUE(response.began());
  EXPECT_TRUE(sidecar_.draining);
  grpc::ClientContext second;
  EXPECT_TRUE(stub_->Drain(&second, {}, &response).ok());
  EXPECT_FALSE(response.began());
}

TEST_F(GrpcAdminServerTest, IsHealthyWhileReady) {
  EXPECT_EQ(AskRaw(channel_, kCheck, Service("")), kServing);
  RawCall watch(channel_, kWatch, Service(""));
  EXPECT_EQ(watch.Read(), kServing);
  Watching seconds(*stub_);
  seconds.Next();
  keeper_.Tick(sidecar_.At(1));
  EXPECT_EQ(seconds.Next().next(), 1) << "it has looked at the health before it sends this";
  sidecar_.ready = false;
  keeper_.Tick(sidecar_.At(2));
  EXPECT_EQ(watch.Read(), kNotServing) << "and nothing in between, as nothing changed";
  EXPECT_EQ(AskRaw(channel_, kCheck, Service("")), kNotServing);
}

TEST_F(GrpcAdminServerTest, AnUpstreamIsHealthyByItsName) {
  RawCall watch(channel_, kWatch, Service("cart"));
  std::optional<std::string> first = watch.Read();
  // The service looks at upstreams soon after it has begun.
  if (first == kServiceUnknown) first = watch.Read();
  EXPECT_EQ(first, kServing);
  sidecar_.SetEndpoints({{.upstream = "cart", .address = "a", .state = "failing"}});
  keeper_.Tick(sidecar_.At(1));
  EXPECT_EQ(watch.Read(), kNotServing);
  EXPECT_EQ(AskRaw(channel_, kCheck, Service("")), kServing) << "the sidecar is ready all the same";
  sidecar_.SetEndpoints({{.upstream = "cart", .address = "a", .state = "ready"}});
  keeper_.Tick(sidecar_.At(2));
  EXPECT_EQ(watch.Read(), kServing);
}

TEST_F(GrpcAdminServerTest, TheHealthOfAnUnknownNameIsNotFound) {
  RawCall call(channel_, kCheck, Service("card"));
  EXPECT_EQ(call.Read(), std::nullopt);
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(GrpcAdminServerTest, ReflectionListsItsServices) {
  const std::string list_services("\x3a\x00", 2);
  EXPECT_THAT(AskRaw(channel_, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                     list_services),
              AllOf(HasSubstr("levee.admin.v1.Admin"), HasSubstr("grpc.channelz.v1.Channelz"),
                    HasSubstr("grpc.health.v1.Health")));
}

TEST_F(GrpcAdminServerTest, ReflectionDescribesAdmin) {
  EXPECT_THAT(Describe("levee.admin.v1.Admin"),
              AllOf(HasSubstr("WatchState"), HasSubstr("GetStateRequest")));
}

// This file must not use the descriptor itself: it would be in the program then in any case.
TEST_F(GrpcAdminServerTest, ReflectionDescribesHealth) {
  EXPECT_THAT(Describe("grpc.health.v1.Health"),
              AllOf(HasSubstr("grpc/health/v1/health.proto"), HasSubstr("Watch"),
                    HasSubstr("HealthCheckRequest"), HasSubstr("NOT_SERVING")));
}

TEST_F(GrpcAdminServerTest, ChannelzKnowsTheServer) {
  EXPECT_THAT(AskRaw(channel_, "/grpc.channelz.v1.Channelz/GetServers", ""),
              HasSubstr("Server created"));
}

TEST_F(GrpcAdminServerTest, ALargeRequestIsRefused) {
  admin::v1::GetStateRequest request;
  request.set_upstream(std::string(70'000, 'x'));
  admin::v1::State state;
  EXPECT_EQ(GetState(request, state).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(GrpcAdminServerTest, TheOldestOfManyConnectionsMakesRoom) {
  constexpr size_t kTooMany = 100;
  std::deque<HttpClient> silent;
  for (size_t i = 0; i < Gate::kMostConnections + kTooMany; ++i) {
    silent.emplace_back(server_->port());
  }
  EXPECT_EQ(AskRaw(channel_, kCheck, Service("")), kServing);
  for (size_t i = 0; i < kTooMany; ++i) silent[i].ReadAll();  // They have ended.
  // A newer one is there as before.
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
  const std::string ping("\0\0\x08\6\0\0\0\0\0answered", 17);
  silent.back().Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings + ping);
  std::string answer;
  while (answer.find("answered") == std::string::npos) {
    const std::string more = silent.back().ReadSome();
    ASSERT_FALSE(more.empty());
    answer += more;
  }
}

TEST_F(GrpcAdminServerTest, AConnectionThatHasEndedTakesNoPlaceOfOthers) {
  Watching watching(*stub_);
  EXPECT_EQ(watching.Next().instance(), "instance-1");
  for (size_t i = 0; i < 3 * Gate::kMostConnections; ++i) {
    HttpClient passes(server_->port());
    passes.Send("GET / HTTP/1.1\r\n\r\n");
    passes.ReadAll();
  }
  keeper_.Tick(sidecar_.At(1));
  EXPECT_EQ(watching.Next().next(), 1);
}

TEST_F(GrpcAdminServerTest, StopsWhileCallsAreOpen) {
  Watching watching(*stub_);
  EXPECT_EQ(watching.Next().instance(), "instance-1");
  RawCall health(channel_, kWatch, Service(""));
  EXPECT_EQ(health.Read(), kServing);
  RawCall reflection(channel_, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                     std::string("\x3a\x00", 2));
  // None of the calls would end by itself.
  server_->Stop();
  server_->Stop();
  const grpc::Status status = watching.reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "the admin server stops");
}

TEST_F(GrpcAdminServerTest, StopFreesThePort) {
  const uint16_t port = server_->port();
  server_->Stop();
  const auto again = Start({.host = "127.0.0.1", .port = port});
  EXPECT_TRUE(again.ok()) << again.status();
}

TEST_F(GrpcAdminServerTest, AnotherOneMayStartBeforeItStops) {
  const auto second = Start({.host = "127.0.0.1"});
  ASSERT_TRUE(second.ok()) << second.status();
  server_->Stop();
  const auto channel =
      grpc::CreateChannel((*second)->address().ToString(), grpc::InsecureChannelCredentials());
  const auto stub = admin::v1::Admin::NewStub(channel);
  Watching watching(*stub);
  EXPECT_EQ(watching.Next().next(), 0);
  keeper_.Tick(sidecar_.At(1));
  EXPECT_EQ(watching.Next().next(), 1);
}

TEST_F(GrpcAdminServerTest, ABusyPortIsAnErrorThatNamesTheFieldToChange) {
  const auto second = Start({.host = "127.0.0.1",
                             .port = server_->port(),
                             .position = "levee.yaml:4:11: admin.grpc_address"});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(second.status().message(),
            "levee.yaml:4:11: admin.grpc_address: cannot listen on 127.0.0.1:" +
                std::to_string(server_->port()) +
                ": Address already in use; choose another port or free this one");
}

TEST_F(GrpcAdminServerTest, AnAddressOfAnotherMachineIsAnError) {
  // 192.0.2.0/24 is for documentation.
  EXPECT_EQ(Start({.host = "192.0.2.1"}).status().message(),
            "admin.grpc_address: cannot listen on 192.0.2.1:0: Cannot assign requested address");
}

TEST_F(GrpcAdminServerTest, ListensOnIpv6) {
  const auto server = Start({.host = "::1"});
  if (!server.ok()) GTEST_SKIP() << server.status();
  EXPECT_EQ((*server)->address().ToString(), "[::1]:" + std::to_string((*server)->port()));
}

}  // namespace
}  // namespace levee
