// SPDX-License-Identifier: Apache-2.0
#include "otlp/export_client.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "net/event_loop.h"

namespace levee {
namespace {

namespace collector = opentelemetry::proto::collector::trace::v1;

// The library connects again after such delays, while exports are tried.
constexpr int kFirstReconnectMs = 1'000;
constexpr int kLastReconnectMs = 5'000;

std::shared_ptr<grpc::Channel> NewChannel(const OtlpSpec& spec) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // ExportAttempts says when to repeat one.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLastReconnectMs);
  const bool bare = !absl::StrContains(spec.host, ':');
  const std::string address = bare ? absl::StrCat(spec.host, ":", spec.port)
                                   : absl::StrCat("[", spec.host, "]:", spec.port);
  return grpc::CreateCustomChannel(
      "dns:///" + address, spec.tls ? grpc::SslCredentials({}) : grpc::InsecureChannelCredentials(),
      arguments);
}

// The library has decoded binary values, which Metadata keeps as they are on the wire.
void ReadTrailers(const grpc::ClientContext& context, Metadata& to) {
  for (const auto& [key, value] : context.GetServerTrailingMetadata()) {
    const std::string_view name(key.data(), key.size());
    const std::string_view text(value.data(), value.size());
    if (name.ends_with("-bin")) {
      to.Add(name, absl::Base64Escape(std::string(text)));
    } else {
      to.Add(name, text);
    }
  }
}

}  // namespace

ExportClient::ExportClient(const OtlpSpec& spec)
    : spec_(spec), stub_(collector::TraceService::NewStub(NewChannel(spec))) {}

ExportAnswer ExportClient::Export(const Request& request, absl::Duration timeout) {
  grpc::ClientContext context;
  context.set_deadline(
      std::chrono::system_clock::time_point(absl::ToChronoTime(net::WallClock() + timeout)));
  for (const auto& [name, value] : spec_.headers) context.AddMetadata(name, value);
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return {.code = StatusCode::kCancelled};
    under_way_ = &context;
  }
  collector::ExportTraceServiceResponse response;
  const grpc::Status status = stub_->Export(&context, request, &response);
  {
    const std::lock_guard lock(mutex_);
    under_way_ = nullptr;
  }
  ExportAnswer answer;
  answer.code = static_cast<StatusCode>(status.error_code());
  answer.message = status.error_message();
  answer.rejected = static_cast<int>(
      std::clamp<int64_t>(response.partial_success().rejected_spans(), 0, INT32_MAX));
  if (status.ok()) return answer;
  Metadata trailers;
  ReadTrailers(context, trailers);
  ReadAdvice(trailers, answer);
  return answer;
}

void ExportClient::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (under_way_ != nullptr) under_way_->TryCancel();
}

}  // namespace levee
