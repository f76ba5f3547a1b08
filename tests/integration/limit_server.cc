// SPDX-License-Identifier: Apache-2.0
#include "integration/limit_server.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace levee {

using envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;

LimitServer::LimitServer(int port) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(),
                           &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

LimitServer::~LimitServer() {
  Release();
  server_->Shutdown(std::chrono::system_clock::now());
}

void LimitServer::SetLimit(const std::string& descriptor, Limit limit) {
  const std::lock_guard lock(mutex_);
  limits_[descriptor] = limit;
}

void LimitServer::TellWindows(bool told) {
  const std::lock_guard lock(mutex_);
  told_ = told;
}

void LimitServer::Hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void LimitServer::Release() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  released_.notify_all();
}

std::vector<LimitServer::Request> LimitServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int64_t LimitServer::granted(const std::string& descriptor) const {
  const std::lock_guard lock(mutex_);
  const auto found = granted_.find(descriptor);
  return found == granted_.end() ? 0 : found->second;
}

grpc::Status LimitServer::ShouldRateLimit(grpc::ServerContext*, const RateLimitRequest* request,
                                          RateLimitResponse* response) {
  std::unique_lock lock(mutex_);
  if (request->domain().empty() || request->descriptors_size() == 0) {
    return {grpc::StatusCode::UNKNOWN, "a request has a domain and a descriptor"};
  }
  const std::string descriptor =
      absl::StrJoin(request->descriptors(0).entries(), ",",
                    [](std::string* out, const RateLimitDescriptor::Entry& entry) {
                      absl::StrAppend(out, entry.key(), "=", entry.value());
                    });
  const uint32_t hits = std::max(request->hits_addend(), 1u);
  requests_.push_back({request->domain(), descriptor, hits});
  released_.wait(lock, [this] { return !held_; });
  Decide(descriptor, hits, *response);
  return grpc::Status::OK;
}

void LimitServer::Decide(const std::string& descriptor, uint32_t hits,
                         RateLimitResponse& response) {
  auto& status = *response.add_statuses();
  const auto found = limits_.find(descriptor);
  bool within = true;
  if (found != limits_.end()) {
    const auto& [requests, seconds] = found->second;
    const int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count();
    int64_t& count = counts_[absl::StrCat(descriptor, "/", now / seconds)];
    count += hits;
    within = count <= requests;
    if (told_) {
      status.mutable_current_limit()->set_requests_per_unit(requests);
      status.set_limit_remaining(within ? requests - static_cast<uint32_t>(count) : 0);
      status.mutable_duration_until_reset()->set_seconds(seconds - now % seconds);
    }
  }
  if (within) granted_[descriptor] += hits;
  status.set_code(within ? RateLimitResponse::OK : RateLimitResponse::OVER_LIMIT);
  response.set_overall_code(status.code());
}

}  // namespace levee
