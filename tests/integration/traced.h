// SPDX-License-Identifier: Apache-2.0
// A sidecar that sends spans, and traces for its callers.
#pragma once

#include <string>
#include <vector>

#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {

inline constexpr char kCallersTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";
inline constexpr char kCallersSpan[] = "00f067aa0ba902b7";

inline std::string CallersTraceparent(const std::string& flags) {
  return std::string("00-") + kCallersTrace + "-" + kCallersSpan + "-" + flags;
}

inline Setup With(const FieldList& metadata) {
  return [metadata](grpc::ClientContext& context) {
    for (const auto& [name, value] : metadata) context.AddMetadata(name, value);
  };
}

// A sidecar before `service` that sends its spans to `receiver`. `otlp`: more fields.
inline ConfigParts Traced(const FaultyService& service, const std::string& receiver,
                          const std::string& otlp = "") {
  return {.endpoints = {service.address()},
          .retry = "{max_attempts: 3, backoff: {initial: 1ms}, budget: {ratio: 100}}",
          .more = "otlp: {address: \"" + receiver + "\"" + otlp + "}"};
}

// All calls have spans.
inline constexpr char kAllSpans[] = ", sample: 1";

// The traceparent of each call that the service has seen.
inline std::vector<std::string> Traceparents(const FaultyService& service) {
  std::vector<std::string> values;
  for (const SeenCall& call : service.seen()) {
    values.push_back(Values(call.metadata, "traceparent"));
  }
  return values;
}

}  // namespace levee
