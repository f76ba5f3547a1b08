// SPDX-License-Identifier: Apache-2.0
#include "admin_grpc/admin_service.h"

#include <algorithm>
#include <utility>

namespace levee {
namespace {

grpc::Status Stopping() { return {grpc::StatusCode::UNAVAILABLE, "the admin server stops"}; }

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

}  // namespace

// One WatchState call. Its functions may be called from any thread; it keeps itself alive until
// gRPC is done with it.
class AdminService::Watcher final : public grpc::ServerWriteReactor<admin::v1::State>,
                                    public std::enable_shared_from_this<Watcher> {
 public:
  Watcher(AdminService& service, const admin::v1::WatchStateRequest& request) : service_(service) {
    wanted_.set_upstream(request.upstream());
    wanted_.set_details_of(request.details_of());
  }

  void KeepUntilDone() { self_ = shared_from_this(); }

  // Sends the changes since the last time, at once or as soon as gRPC has taken those before. Runs
  // on the service's thread.
  void Push() {
    {
      const std::lock_guard lock(mutex_);
      behind_ = writing_;
      if (finished_ || writing_) return;
    }
    auto state = service_.keeper_.Read(wanted_);
    if (!state.ok()) return End(ToGrpc(state.status()));
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    writing_ = true;
    wanted_.set_since(state->next());
    state_ = *std::move(state);
    StartWrite(&state_);
  }

  void End(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(finished_, true)) return;
    Finish(status);
  }

  void OnWriteDone(bool ok) override {
    bool behind = false;
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
      state_ = admin::v1::State();
      behind = behind_;
    }
    if (!ok) return OnCancel();
    if (behind) service_.PushSoon(shared_from_this());
  }
  void OnCancel() override { End({grpc::StatusCode::CANCELLED, "the caller is gone"}); }
  void OnDone() override {
    service_.Forget(this);
    const std::shared_ptr<Watcher> self = std::move(self_);
  }

 private:
  AdminService& service_;
  std::shared_ptr<Watcher> self_;
  admin::v1::GetStateRequest wanted_;  // only the service's thread uses it

  std::mutex mutex_;
  bool writing_ = false;
  bool behind_ = false;  // there is more to send
  bool finished_ = false;
  admin::v1::State state_;  // belongs to gRPC while it writes
};

AdminService::AdminService(SidecarView& view, StateKeeper& keeper,
                           std::function<void()> every_second)
    : view_(view), keeper_(keeper), every_second_(std::move(every_second)) {}

AdminService::~AdminService() { Stop(); }

void AdminService::Start() {
  listening_ = std::make_unique<StateKeeper::Listening>(keeper_, [this] {
    const std::lock_guard lock(mutex_);
    new_second_ = true;
    wake_.notify_one();
  });
  thread_ = std::thread([this] { Work(); });
}

void AdminService::Stop() {
  listening_.reset();
  std::deque<Waiting> waiting;
  std::vector<std::shared_ptr<Watcher>> watchers;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    waiting.swap(waiting_);
    watchers = watchers_;
    wake_.notify_one();
  }
  for (const Waiting& call : waiting) call.reactor->Finish(Stopping());
  for (const auto& watcher : watchers) watcher->End(Stopping());
  if (thread_.joinable()) thread_.join();
}

void AdminService::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!waiting_.empty()) {
      const Waiting call = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      Answer(call);
      lock.lock();
    } else if (new_second_ || !due_.empty()) {
      const bool new_second = std::exchange(new_second_, false);
      std::vector<std::shared_ptr<Watcher>> due = std::exchange(due_, {});
      if (new_second) due = watchers_;
      lock.unlock();
      if (new_second) every_second_();
      for (const auto& watcher : due) watcher->Push();
      due.clear();
      lock.lock();
    } else {
      wake_.wait(lock);
    }
  }
}

void AdminService::Answer(const Waiting& call) const {
  auto state = keeper_.Read(*call.request);
  if (!state.ok()) return call.reactor->Finish(ToGrpc(state.status()));
  *call.response = *std::move(state);
  call.reactor->Finish(grpc::Status::OK);
}

void AdminService::PushSoon(const std::shared_ptr<Watcher>& watcher) {
  const std::lock_guard lock(mutex_);
  due_.push_back(watcher);
  wake_.notify_one();
}

void AdminService::Forget(const Watcher* watcher) {
  const std::lock_guard lock(mutex_);
  const auto is_it = [watcher](const auto& one) { return one.get() == watcher; };
  std::erase_if(watchers_, is_it);
  std::erase_if(due_, is_it);
}

grpc::ServerUnaryReactor* AdminService::GetState(grpc::CallbackServerContext* context,
                                                 const admin::v1::GetStateRequest* request,
                                                 admin::v1::State* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  std::unique_lock lock(mutex_);
  if (!stopping_ && waiting_.size() < kMaxWaiting) {
    waiting_.push_back({request, response, reactor});
    wake_.notify_one();
    return reactor;
  }
  const grpc::Status refusal =
      stopping_ ? Stopping() : grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls");
  lock.unlock();
  reactor->Finish(refusal);
  return reactor;
}

grpc::ServerWriteReactor<admin::v1::State>* AdminService::WatchState(
    grpc::CallbackServerContext*, const admin::v1::WatchStateRequest* request) {
  const auto watcher = std::make_shared<Watcher>(*this, *request);
  watcher->KeepUntilDone();
  std::unique_lock lock(mutex_);
  if (!stopping_ && watchers_.size() < kMaxWatching) {
    watchers_.push_back(watcher);
    lock.unlock();
    PushSoon(watcher);
    return watcher.get();
  }
  const grpc::Status refusal =
      stopping_ ? Stopping()
                : grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many watch the state");
  lock.unlock();
  watcher->End(refusal);
  return watcher.get();
}

grpc::ServerUnaryReactor* AdminService::GetConfig(grpc::CallbackServerContext* context,
                                                  const admin::v1::GetConfigRequest* request,
                                                  admin::v1::ConfigText* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const auto snapshot = view_.Config().snapshot;
  const bool json = request->format() == admin::v1::GetConfigRequest::FORMAT_JSON;
  if (!json && request->format() != admin::v1::GetConfigRequest::FORMAT_YAML) {
    reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT, "format is FORMAT_YAML or FORMAT_JSON"});
    return reactor;
  }
  response->set_text(json ? snapshot->effective.json : snapshot->effective.yaml);
  response->set_sha256(snapshot->sha256);
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* AdminService::Drain(grpc::CallbackServerContext* context,
                                              const admin::v1::DrainRequest* request,
                                              admin::v1::DrainResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  response->set_began(view_.StartDrain(request->until_signal()));
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace levee
