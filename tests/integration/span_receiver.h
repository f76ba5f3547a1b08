// SPDX-License-Identifier: Apache-2.0
// A real receiver of OTLP over gRPC, whose answers a test writes.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "integration/faulty_service.h"
#include "opentelemetry/proto/collector/trace/v1/trace_service.grpc.pb.h"

namespace levee {

// A span as a test reads it. Ids are hexadecimal digits.
struct SeenSpan {
  std::string trace_id;
  std::string id;
  std::string parent;  // empty: none
  std::string name;
  std::string trace_state;
  bool client = false;  // else it is of kind SERVER
  bool error = false;
  std::string message;  // of its status
  uint64_t start = 0;   // nanoseconds of the Unix epoch
  uint64_t end = 0;
  std::map<std::string, std::string> attributes;  // numbers in decimal

  // Returns the attribute's value; "-" if it is not there.
  std::string operator[](const std::string& name) const;
};

// An export as it arrived.
struct SeenExport {
  int number = 0;  // 1-based
  Fields metadata;
};

// Thread-safe. Spans of exports that it refuses are not seen.
class SpanReceiver {
 public:
  using TraceService = opentelemetry::proto::collector::trace::v1::TraceService;
  using Request = opentelemetry::proto::collector::trace::v1::ExportTraceServiceRequest;
  using Response = opentelemetry::proto::collector::trace::v1::ExportTraceServiceResponse;
  using Script = std::function<grpc::Status(const SeenExport&, grpc::ServerContext&, Response&)>;

  struct Options {
    int port = 0;  // 0: the system's choice
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
  };
  explicit SpanReceiver(Script script = nullptr) : SpanReceiver(std::move(script), Options()) {}
  SpanReceiver(Script script, const Options& options);
  ~SpanReceiver();

  // "127.0.0.1:PORT"
  const std::string& address() const { return address_; }

  // Waits until `count` spans have come; those that have after kPatience.
  std::vector<SeenSpan> Await(size_t count) const;

  std::vector<SeenSpan> spans() const;
  std::vector<SeenExport> exports() const;
  // Of the last export.
  std::map<std::string, std::string> resource() const;
  std::string scope() const;  // name and version

  // Waits until `condition` holds; false after kPatience.
  bool WaitFor(const std::function<bool()>& condition) const;

 private:
  class Service;

  grpc::Status Take(grpc::ServerContext& context, const Request& request, Response& response);

  const Script script_;
  mutable std::mutex mutex_;
  mutable std::condition_variable happened_;
  std::vector<SeenSpan> spans_;
  std::vector<SeenExport> exports_;
  std::map<std::string, std::string> resource_;
  std::string scope_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace levee
