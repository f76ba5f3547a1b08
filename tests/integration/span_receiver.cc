// SPDX-License-Identifier: Apache-2.0
#include "integration/span_receiver.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "integration/child.h"

namespace levee {
namespace {

using opentelemetry::proto::common::v1::AnyValue;
using opentelemetry::proto::common::v1::KeyValue;
using opentelemetry::proto::trace::v1::Span;
using opentelemetry::proto::trace::v1::Status;

std::string Text(const AnyValue& value) {
  switch (value.value_case()) {
    case AnyValue::kStringValue:
      return value.string_value();
    case AnyValue::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case AnyValue::kIntValue:
      return absl::StrCat(value.int_value());
    case AnyValue::kDoubleValue:
      return absl::StrCat(value.double_value());
    default:
      return "?";
  }
}

std::map<std::string, std::string> Texts(
    const google::protobuf::RepeatedPtrField<KeyValue>& attributes) {
  std::map<std::string, std::string> texts;
  for (const KeyValue& attribute : attributes) texts[attribute.key()] = Text(attribute.value());
  return texts;
}

SeenSpan See(const Span& span) {
  EXPECT_EQ(span.trace_id().size(), 16U);
  EXPECT_EQ(span.span_id().size(), 8U);
  return {.trace_id = absl::BytesToHexString(span.trace_id()),
          .id = absl::BytesToHexString(span.span_id()),
          .parent = absl::BytesToHexString(span.parent_span_id()),
          .name = span.name(),
          .trace_state = span.trace_state(),
          .client = span.kind() == Span::SPAN_KIND_CLIENT,
          .error = span.status().code() == Status::STATUS_CODE_ERROR,
          .message = span.status().message(),
          .start = span.start_time_unix_nano(),
          .end = span.end_time_unix_nano(),
          .attributes = Texts(span.attributes())};
}

}  // namespace

std::string SeenSpan::operator[](const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? "-" : found->second;
}

class SpanReceiver::Service final : public TraceService::Service {
 public:
  explicit Service(SpanReceiver& receiver) : receiver_(receiver) {}

  grpc::Status Export(grpc::ServerContext* context, const Request* request,
                      Response* response) override {
    return receiver_.Take(*context, *request, *response);
  }

 private:
  SpanReceiver& receiver_;
};

SpanReceiver::SpanReceiver(Script script, const Options& options)
    : script_(std::move(script)), service_(std::make_unique<Service>(*this)) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(absl::StrCat("127.0.0.1:", options.port), options.credentials, &port);
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
  EXPECT_NE(port, 0);
  address_ = absl::StrCat("127.0.0.1:", port);
}

SpanReceiver::~SpanReceiver() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

grpc::Status SpanReceiver::Take(grpc::ServerContext& context, const Request& request,
                                Response& response) {
  SeenExport seen;
  for (const auto& [name, value] : context.client_metadata()) {
    seen.metadata.emplace(std::string(name.data(), name.size()),
                          std::string(value.data(), value.size()));
  }
  {
    const std::lock_guard lock(mutex_);
    seen.number = static_cast<int>(exports_.size()) + 1;
    exports_.push_back(seen);
    happened_.notify_all();
  }
  grpc::Status status = script_ ? script_(seen, context, response) : grpc::Status::OK;
  if (!status.ok()) return status;
  const std::lock_guard lock(mutex_);
  for (const auto& resource_spans : request.resource_spans()) {
    resource_ = Texts(resource_spans.resource().attributes());
    for (const auto& scope_spans : resource_spans.scope_spans()) {
      scope_ = absl::StrCat(scope_spans.scope().name(), " ", scope_spans.scope().version());
      for (const Span& span : scope_spans.spans()) spans_.push_back(See(span));
    }
  }
  happened_.notify_all();
  return status;
}

bool SpanReceiver::WaitFor(const std::function<bool()>& condition) const {
  std::unique_lock lock(mutex_);
  return happened_.wait_for(lock, kPatience, condition);
}

std::vector<SeenSpan> SpanReceiver::Await(size_t count) const {
  WaitFor([&] { return spans_.size() >= count; });
  return spans();
}

std::vector<SeenSpan> SpanReceiver::spans() const {
  const std::lock_guard lock(mutex_);
  return spans_;
}

std::vector<SeenExport> SpanReceiver::exports() const {
  const std::lock_guard lock(mutex_);
  return exports_;
}

std::map<std::string, std::string> SpanReceiver::resource() const {
  const std::lock_guard lock(mutex_);
  return resource_;
}

std::string SpanReceiver::scope() const {
  const std::lock_guard lock(mutex_);
  return scope_;
}

}  // namespace levee
