// SPDX-License-Identifier: Apache-2.0
#include "admin_grpc/grpc_admin_server.h"

#include <cstddef>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "admin/control_listener.h"
#include "admin_grpc/admin_service.h"
#include "admin_grpc/call_count.h"
#include "admin_grpc/gate.h"
#include "admin_grpc/upstream_health.h"
#include "grpc/health/v1/health.pb.h"
#include "grpcpp/ext/channelz_service_plugin.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/server_posix.h"
#include "net/event_loop.h"
#include "net/listener.h"

namespace levee {
namespace {

constexpr int kMaxMessageBytes = 64 << 10;  // of one request
constexpr size_t kMaxMemoryBytes = 32 << 20;
// Reflection and channelz hold a thread per call.
constexpr int kMaxThreads = 8;
constexpr int kKeepaliveMs = 60'000;  // finds callers that have vanished
// How long Stop waits for calls that end by themselves before it cancels them.
constexpr int64_t kShutdownMs = 100;

constexpr char kField[] = "admin.grpc_address";

// Runs once for the process. All servers that are built later have these plugins.
void InitPlugins() {
  static const bool once = [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    // Reflection describes services whose descriptors the program has.
    google::protobuf::LinkMessageReflection<grpc::health::v1::HealthCheckRequest>();
    grpc::channelz::experimental::InitChannelzService();
    return true;
  }();
  static_cast<void>(once);
}

void SetBounds(grpc::ServerBuilder& builder) {
  grpc::ResourceQuota quota("admin");
  quota.Resize(kMaxMemoryBytes).SetMaxThreads(kMaxThreads);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(CallCount::kMostOpen));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
}

}  // namespace

// Accepts connections itself, in a thread of its own, which passes their bytes on: the library
// would take any number.
class GrpcAdminServer::Serving final : private net::TurnHandler {
 public:
  Serving(SidecarView& view, StateKeeper& keeper)
      : view_(view), keeper_(keeper), service_(view, keeper, [this] { LookAtHealth(); }) {
    loop_.SetTurnHandler(this);
  }

  // May be called once.
  absl::Status Listen(const ListenAddress& address) {
    auto listener =
        OpenControlListener(loop_, wheel_, address, kField,
                            [this](net::ByteStream stream) { gate_.Add(std::move(stream)); });
    if (!listener.ok()) return listener.status();
    listener_ = *std::move(listener);
    address_ = listener_->address();
    grpc::ServerBuilder builder;
    SetBounds(builder);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return AddressFault(address, kField, "the gRPC library refuses; its log says why");
    }
    SetHealth("", view_.Ready());
    service_.Start();
    try {
      thread_ = std::thread([this] { loop_.Run(); });
    } catch (const std::system_error& error) {
      return AddressFault(address, kField, absl::StrCat("no thread: ", error.what()));
    }
    return absl::OkStatus();
  }

  void Stop() {
    InLoop([this] {
      listener_.reset();
      gate_.Close();
    });
    service_.Stop();
    if (server_ == nullptr) return;
    server_->Shutdown(
        gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(kShutdownMs, GPR_TIMESPAN)));
    InLoop([this] {
      gate_.PassAnswers();
      loop_.Stop();
    });
    if (thread_.joinable()) thread_.join();
  }

  const net::Address& address() const { return address_; }

 private:
  Instant OnTurnEnd(Instant now) override {
    wheel_.Advance(now);
    return wheel_.NextWakeup();
  }

  // Runs `task` in the thread, and waits for it; does nothing if there is none.
  void InLoop(absl::AnyInvocable<void()> task) {
    if (!thread_.joinable()) return;
    absl::Notification done;
    loop_.Post([&] {
      task();
      done.Notify();
    });
    done.WaitForNotification();
  }

  void LookAtHealth() {
    SetHealth("", view_.Ready());
    const auto snapshot = view_.Config().snapshot;
    for (const auto& [name, serving] : upstreams_.Update(*snapshot, *keeper_.Endpoints())) {
      SetHealth(name, serving);
    }
  }

  void SetHealth(const std::string& name, bool serving) {
    const auto [said, first] = health_.try_emplace(name, serving);
    // Watchers are told of every status that is set, but only changes should reach them.
    if (!first && said->second == serving) return;
    said->second = serving;
    server_->GetHealthCheckService()->SetServingStatus(name, serving);
  }

  SidecarView& view_;
  StateKeeper& keeper_;
  UpstreamHealth upstreams_;
  std::map<std::string, bool> health_;  // as last set
  net::Address address_;
  AdminService service_;
  std::unique_ptr<grpc::Server> server_;
  net::EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  Gate gate_{loop_, wheel_,
             [this](int descriptor) { grpc::AddInsecureChannelFromFd(server_.get(), descriptor); }};
  std::unique_ptr<net::Listener> listener_;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<GrpcAdminServer>> GrpcAdminServer::Start(
    const ListenAddress& address, SidecarView& view, StateKeeper& keeper) {
  InitPlugins();
  auto serving = std::make_unique<Serving>(view, keeper);
  if (absl::Status listening = serving->Listen(address); !listening.ok()) {
    serving->Stop();
    return listening;
  }
  return std::unique_ptr<GrpcAdminServer>(new GrpcAdminServer(std::move(serving)));
}

GrpcAdminServer::GrpcAdminServer(std::unique_ptr<Serving> serving) : serving_(std::move(serving)) {}

GrpcAdminServer::~GrpcAdminServer() { Stop(); }

const net::Address& GrpcAdminServer::address() const { return serving_->address(); }

void GrpcAdminServer::Stop() { serving_->Stop(); }

}  // namespace levee
