#include "server/reply.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/time/time.h"
#include "base/chunk.h"
#include "wire/overload_mark.h"

namespace levee {
namespace {

void AddResponseHead(Metadata& head) {
  head.Add(":status", "200");
  head.Add("content-type", "application/grpc");
}

void AddStatus(StatusCode code, std::string_view message, Metadata& to) {
  char text[4];
  const auto end = std::to_chars(text, text + sizeof text, static_cast<int>(code)).ptr;
  to.Add("grpc-status", {text, static_cast<size_t>(end - text)});
  if (!message.empty()) to.Add("grpc-message", PercentEncode(message));
}

// Whole milliseconds, rounded up: a caller that comes back after them does not come too early.
std::string PushbackText(absl::Duration wait) {
  constexpr int64_t kMaxMs = std::numeric_limits<int32_t>::max();
  const absl::Duration rounded = absl::Ceil(wait, absl::Milliseconds(1));
  return std::to_string(std::clamp<int64_t>(absl::ToInt64Milliseconds(rounded), 0, kMaxMs));
}

// Leaves of a trailers-only block what may stand in trailers.
void KeepTrailersOnly(Metadata& fields) {
  fields.Remove(":status");
  fields.Remove("content-type");
}

}  // namespace

void ReplyTrailersOnly(h2::Stream& stream, StatusCode code, std::string_view message) {
  AddResponseHead(stream.head());
  AddStatus(code, message, stream.head());
  stream.SendHead(/*end=*/true);
}

void ReplyNotGrpc(h2::Stream& stream) {
  constexpr std::string_view kText = "only gRPC calls are taken here: POST, application/grpc\n";
  stream.head().Add(":status", "415");
  stream.head().Add("content-type", "text/plain");
  stream.SendHead(/*end=*/false);
  stream.SendData(Chunk::Copy({reinterpret_cast<const uint8_t*>(kText.data()), kText.size()}),
                  /*end=*/true);
}

void ReplyFinal(h2::Stream& stream, const FinalStatus& status, Metadata& trailers, bool head_sent) {
  if (status.forward_trailers) {
    Metadata& to = head_sent ? stream.trailers() : stream.head();
    to.Swap(trailers);
  } else {
    KeepTrailersOnly(trailers);
    Metadata& to = head_sent ? stream.trailers() : stream.head();
    if (!head_sent) AddResponseHead(to);
    if (status.marked != nullptr) {
      ApplyOverloadMark(*status.marked, trailers);
      for (size_t i = 0; i < trailers.size(); ++i) {
        to.Add(trailers[i].name, trailers[i].value, trailers[i].never_index);
      }
    } else {
      AddStatus(status.code, status.message, to);
      if (status.pushback) to.Add("grpc-retry-pushback-ms", PushbackText(*status.pushback));
    }
  }
  if (head_sent) {
    stream.SendTrailers();
  } else {
    stream.SendHead(/*end=*/true);
  }
}

}  // namespace levee
