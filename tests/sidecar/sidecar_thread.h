// SPDX-License-Identifier: Apache-2.0
// A sidecar beside the test's own thread.
#pragma once

#include <memory>
#include <thread>
#include <utility>

#include "virtual/kept_spans.h"
#include "sidecar/endpoint_source.h"
#include "sidecar/sidecar.h"
#include "upstream/pool.h"

namespace levee {

// A sidecar whose workers run in threads of their own.
class SidecarThread {
 public:
  // `source`: followed unless it is nullptr; it outlives the sidecar.
  SidecarThread(const std::shared_ptr<const Snapshot>& snapshot, int workers,
                EndpointSource* source = nullptr)
      : metrics_({.workers = workers, .settings = {.upstreams = {"shop"}}}),
        sidecar_(*Sidecar::Open(snapshot, workers, metrics_, recent_, nullptr, spans_, log_)),
        address_(sidecar_->listeners().at(0).address) {
    if (source != nullptr) sidecar_->Follow(*source);
    thread_ = std::thread([this] { sidecar_->Run(); });
  }

  // Drains it.
  ~SidecarThread() {
    sidecar_->StartDrain();
    thread_.join();
  }

  Sidecar& operator*() { return *sidecar_; }
  Sidecar* operator->() { return sidecar_.get(); }
  Metrics& metrics() { return metrics_; }
  const net::Address& address() const { return address_; }
  Pool::Target target() const { return {.host = "127.0.0.1", .port = address_.port(), .path = ""}; }

  // Waits until the reload is done, or refused.
  absl::Status Reload(std::shared_ptr<const Snapshot> snapshot) {
    return sidecar_->Reload(std::move(snapshot), nullptr).status();
  }

 private:
  Metrics metrics_;
  RecentCalls recent_;
  KeptSpans spans_;
  EventLog log_;
  std::unique_ptr<Sidecar> sidecar_;
  const net::Address address_;
  std::thread thread_;
};

}  // namespace levee
