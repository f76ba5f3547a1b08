// SPDX-License-Identifier: Apache-2.0
// The way to one receiver of spans.
#pragma once

#include <memory>
#include <mutex>

#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "opentelemetry/proto/collector/trace/v1/trace_service.grpc.pb.h"
#include "otlp/export_rule.h"
#include "settings/otlp_spec.h"

namespace levee {

// A channel, which connects by itself when it is needed. One thread, but for Cancel.
class ExportClient {
 public:
  using Request = opentelemetry::proto::collector::trace::v1::ExportTraceServiceRequest;

  explicit ExportClient(const OtlpSpec& spec);
  ExportClient(const ExportClient&) = delete;
  ExportClient& operator=(const ExportClient&) = delete;

  // Sends the spans once, and waits for the answer, but no longer than `timeout`.
  ExportAnswer Export(const Request& request, absl::Duration timeout);

  // Ends an export that is under way, and every later one, with CANCELLED. Any thread.
  void Cancel();

 private:
  const OtlpSpec spec_;
  const std::unique_ptr<opentelemetry::proto::collector::trace::v1::TraceService::Stub> stub_;
  std::mutex mutex_;
  grpc::ClientContext* under_way_ = nullptr;
  bool cancelled_ = false;
};

}  // namespace levee
