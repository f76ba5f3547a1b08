// SPDX-License-Identifier: Apache-2.0
#include "call/final_answer.h"

#include <charconv>
#include <string>

#include "wire/content_type.h"
#include "wire/overload_mark.h"
#include "wire/percent_encoding.h"
#include "wire/pushback.h"

namespace levee {
namespace {

void AddResponseHead(std::string_view content_type, Metadata& head) {
  head.Add(":status", "200");
  head.Add("content-type", content_type);
}

void AddStatus(StatusCode code, std::string_view message, Metadata& to) {
  char text[4];
  const auto end = std::to_chars(text, text + sizeof text, static_cast<int>(code)).ptr;
  to.Add("grpc-status", {text, static_cast<size_t>(end - text)});
  if (!message.empty()) to.Add("grpc-message", PercentEncode(message));
}

// Leaves of a trailers-only block what may stand in trailers.
void KeepTrailersOnly(Metadata& fields) {
  fields.Remove(":status");
  fields.Remove("content-type");
}

}  // namespace

void WriteTrailersOnly(std::string_view content_type, StatusCode code, std::string_view message,
                       Metadata& to) {
  AddResponseHead(content_type, to);
  AddStatus(code, message, to);
}

void WriteFinalAnswer(const FinalStatus& status, Metadata& trailers, std::string_view content_type,
                      Metadata& to) {
  if (status.forward_trailers) {
    to.Swap(trailers);
    return;
  }
  if (!content_type.empty()) {
    const std::string_view own = trailers.Get("content-type");
    AddResponseHead(IsGrpcContentType(own) ? own : content_type, to);
  }
  KeepTrailersOnly(trailers);
  if (status.marked != nullptr) {
    for (size_t i = 0; i < trailers.size(); ++i) {
      to.Add(trailers[i].name, trailers[i].value, trailers[i].never_index);
    }
    ApplyOverloadMark(*status.marked, to);
  } else {
    AddStatus(status.code, status.message, to);
    if (status.pushback) to.Add("grpc-retry-pushback-ms", PushbackText(*status.pushback));
  }
}

}  // namespace levee
