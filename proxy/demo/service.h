// SPDX-License-Identifier: Apache-2.0
// The demo's service: a real gRPC server over a ServiceModel, with switchable faults.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "demo/service_model.h"
#include "grpcpp/grpcpp.h"
#include "levee/demo/v1/shop.grpc.pb.h"

namespace levee::demo {

// Serves levee.demo.v1.Shop, levee.demo.v1.Faults and reflection on a loopback port that the system
// chooses, from construction to destruction. Its work is waiting, which costs no CPU. Thread-safe.
class DemoService {
 public:
  DemoService(const Capacity& capacity, uint64_t seed);

  // Requests that have not ended are answered with UNAVAILABLE.
  ~DemoService();
  DemoService(const DemoService&) = delete;
  DemoService& operator=(const DemoService&) = delete;

  // "127.0.0.1:PORT"; empty if the service got no port.
  const std::string& address() const { return address_; }

  // Replaces all faults.
  void SetFaults(const FaultShares& faults);
  FaultShares faults() const;

  // The number of requests that arrived, whatever their end.
  int64_t arrived() const { return arrived_.load(std::memory_order_relaxed); }

 private:
  class Shop;
  class Faults;

  void GetPrice(grpc::CallbackServerContext& context, const v1::GetPriceRequest& request,
                v1::GetPriceReply& reply, grpc::ServerUnaryReactor& reactor);
  // Starts serving on a port that the system chooses; returns 0 if it cannot listen there.
  int Listen();
  void Work();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  ServiceModel model_;
  bool stopping_ = false;

  std::atomic<int64_t> arrived_ = 0;
  std::unique_ptr<Shop> shop_;
  std::unique_ptr<Faults> faults_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::thread worker_;
};

}  // namespace levee::demo
