// SPDX-License-Identifier: Apache-2.0
// The service levee.admin.v1.Admin.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "admin/sidecar_view.h"
#include "admin/state_keeper.h"
#include "grpcpp/grpcpp.h"
#include "levee/admin/v1/admin.grpc.pb.h"

namespace levee {

// Making a state waits for the workers, which gRPC's own threads must not do. So one thread of the
// service does it for all calls in turn. More than kMaxWaiting waiting GetState calls and more than
// kMaxWatching streams are refused with RESOURCE_EXHAUSTED.
class AdminService final : public admin::v1::Admin::CallbackService {
 public:
  static constexpr size_t kMaxWaiting = 16;
  static constexpr size_t kMaxWatching = 16;

  // `view` and `keeper` must outlive the service. From Start on, `every_second` is called on the
  // service's thread, once at first and then after every second that the keeper has read.
  AdminService(SidecarView& view, StateKeeper& keeper, std::function<void()> every_second);
  ~AdminService() override;

  // Begins to serve; calls that came before have waited.
  void Start();

  // Ends all calls with UNAVAILABLE, also later ones, and waits for the thread. A second call does
  // nothing.
  void Stop();

  grpc::ServerUnaryReactor* GetState(grpc::CallbackServerContext* context,
                                     const admin::v1::GetStateRequest* request,
                                     admin::v1::State* response) override;
  grpc::ServerWriteReactor<admin::v1::State>* WatchState(
      grpc::CallbackServerContext* context, const admin::v1::WatchStateRequest* request) override;
  grpc::ServerUnaryReactor* GetConfig(grpc::CallbackServerContext* context,
                                      const admin::v1::GetConfigRequest* request,
                                      admin::v1::ConfigText* response) override;
  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context,
                                  const admin::v1::DrainRequest* request,
                                  admin::v1::DrainResponse* response) override;

 private:
  class Watcher;

  // A GetState call that waits for the thread.
  struct Waiting {
    const admin::v1::GetStateRequest* request;
    admin::v1::State* response;
    grpc::ServerUnaryReactor* reactor;
  };

  void Work();
  void Answer(const Waiting& call) const;
  void PushSoon(const std::shared_ptr<Watcher>& watcher);
  void Forget(const Watcher* watcher);

  SidecarView& view_;
  StateKeeper& keeper_;
  const std::function<void()> every_second_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool new_second_ = true;
  std::deque<Waiting> waiting_;
  std::vector<std::shared_ptr<Watcher>> watchers_;
  std::vector<std::shared_ptr<Watcher>> due_;  // before the next second

  std::unique_ptr<StateKeeper::Listening> listening_;
  std::thread thread_;
};

}  // namespace levee
