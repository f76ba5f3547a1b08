// SPDX-License-Identifier: Apache-2.0
// A rate limit service as envoyproxy/ratelimit is one: it counts hits in windows.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "envoy/service/ratelimit/v3/rls.grpc.pb.h"
#include "grpcpp/grpcpp.h"

namespace levee {

// Windows begin at whole multiples of their length. A request that would exceed what a window has
// left is refused as a whole, and counts all the same. Any thread.
class LimitServer final : private envoy::service::ratelimit::v3::RateLimitService::Service {
 public:
  struct Limit {
    uint32_t requests = 1;
    int64_t seconds = 1;  // of a window: 1, 60 or 3600
  };

  // `port`: 0 for one of the system's choice.
  explicit LimitServer(int port = 0);
  ~LimitServer() override;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }

  // The limit of descriptors with these entries, which are written "key=value,key=value". Others
  // have none.
  void SetLimit(const std::string& descriptor, Limit limit);

  // Whether answers tell of limits and windows, as they do unless this was called with false.
  void TellWindows(bool told);

  // Requests get no answer before Release.
  void Hold();
  void Release();

  // What was asked for so far, in order.
  struct Request {
    std::string domain;
    std::string descriptor;
    uint32_t hits;
  };
  std::vector<Request> requests() const;

  // All hits of the descriptor that were granted.
  int64_t granted(const std::string& descriptor) const;

 private:
  using RateLimitRequest = envoy::service::ratelimit::v3::RateLimitRequest;
  using RateLimitResponse = envoy::service::ratelimit::v3::RateLimitResponse;

  grpc::Status ShouldRateLimit(grpc::ServerContext* context, const RateLimitRequest* request,
                               RateLimitResponse* response) override;
  void Decide(const std::string& descriptor, uint32_t hits, RateLimitResponse& response);

  mutable std::mutex mutex_;
  std::condition_variable released_;
  bool held_ = false;
  bool told_ = true;
  std::map<std::string, Limit> limits_;
  std::map<std::string, int64_t> counts_;  // by descriptor and window
  std::map<std::string, int64_t> granted_;
  std::vector<Request> requests_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace levee
