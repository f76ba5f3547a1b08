// SPDX-License-Identifier: Apache-2.0
#include "integration/workload_api.h"

#include "gtest/gtest.h"
#include "integration/child.h"

namespace levee {

X509SVIDResponse SvidResponse(const Authority& authority, const PemPair& pair,
                              const std::string& id) {
  X509SVIDResponse response;
  X509SVID& svid = *response.add_svids();
  svid.set_spiffe_id(id);
  svid.set_x509_svid(DerOf(pair.certificate));
  svid.set_x509_svid_key(DerOf(pair.key));
  svid.set_bundle(DerOf(authority.pem()));
  return response;
}

class WorkloadApi::Service final : public SpiffeWorkloadAPI::Service {
 public:
  explicit Service(WorkloadApi& api) : api_(api) {}

  grpc::Status FetchX509SVID(grpc::ServerContext* context, const X509SVIDRequest*,
                             grpc::ServerWriter<X509SVIDResponse>* writer) override {
    return api_.Serve(*context, *writer);
  }

 private:
  WorkloadApi& api_;
};

WorkloadApi::WorkloadApi(const std::string& path) : service_(std::make_unique<Service>(*this)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials());
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
  EXPECT_NE(server_, nullptr);
}

WorkloadApi::~WorkloadApi() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    happened_.notify_all();
  }
  server_->Shutdown();
  server_->Wait();
}

void WorkloadApi::Give(const X509SVIDResponse& response) {
  const std::lock_guard lock(mutex_);
  response_ = response;
  ++version_;
  happened_.notify_all();
}

PemPair WorkloadApi::Give(const Authority& authority, const std::string& id) {
  const PemPair pair = authority.Issue({.names = {id}});
  Give(SvidResponse(authority, pair, id));
  return pair;
}

void WorkloadApi::Refuse(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  refused_ = status;
  happened_.notify_all();
}

bool WorkloadApi::WaitUntilSent() {
  std::unique_lock lock(mutex_);
  return happened_.wait_for(lock, kPatience, [&] { return sent_ == version_; });
}

bool WorkloadApi::WaitForStreams(int count) {
  std::unique_lock lock(mutex_);
  return happened_.wait_for(lock, kPatience, [&] { return streams_ >= count; });
}

bool WorkloadApi::all_marked() {
  const std::lock_guard lock(mutex_);
  return all_marked_;
}

grpc::Status WorkloadApi::Serve(grpc::ServerContext& context,
                                grpc::ServerWriter<X509SVIDResponse>& writer) {
  const auto mark = context.client_metadata().find("workload.spiffe.io");
  std::unique_lock lock(mutex_);
  all_marked_ &= mark != context.client_metadata().end() && mark->second == "true";
  ++streams_;
  happened_.notify_all();
  int sent = 0;
  while (!context.IsCancelled()) {
    if (ended_) return {grpc::StatusCode::UNAVAILABLE, "the agent ends"};
    if (!refused_.ok()) return refused_;
    if (sent != version_) {
      sent = version_;
      if (!writer.Write(response_)) break;
      sent_ = sent;
      happened_.notify_all();
    }
    // gRPC tells of a cancelled stream in no other way than by being asked.
    happened_.wait_for(lock, std::chrono::milliseconds(50));
  }
  return grpc::Status::CANCELLED;
}

}  // namespace levee
