// SPDX-License-Identifier: Apache-2.0
#include "server/reply.h"

#include <cstdint>

#include "base/chunk.h"
#include "call/final_answer.h"

namespace levee {

void ReplyTrailersOnly(h2::Stream& stream, std::string_view content_type, StatusCode code,
                       std::string_view message) {
  WriteTrailersOnly(content_type, code, message, stream.head());
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

namespace {

void Append(const AddedTrailers& added, Metadata& answer) {
  if (added.mark.has_value()) AddOverloadMark(*added.mark, answer);
  if (added.load.has_value() && !answer.Has(kLoadReportField)) {
    answer.Add(kLoadReportField, LoadReportText(*added.load));
  }
}

}  // namespace

void ReplyStored(h2::Stream& stream, const StoredAnswer& answer, const AddedTrailers& added) {
  const bool trailers_only = answer.trailers_only();
  trailers_only ? answer.AppendTrailers(stream.head()) : answer.AppendHead(stream.head());
  stream.head().Add("levee-replayed", "true");
  if (trailers_only) {
    Append(added, stream.head());
    stream.SendHead(/*end=*/true);
    return;
  }
  stream.SendHead(/*end=*/false);
  const std::string_view body = answer.body();
  if (!body.empty()) {
    stream.SendData(Chunk::Copy({reinterpret_cast<const uint8_t*>(body.data()), body.size()}),
                    /*end=*/false);
  }
  answer.AppendTrailers(stream.trailers());
  Append(added, stream.trailers());
  stream.SendTrailers();
}

void ReplyFinal(h2::Stream& stream, const FinalStatus& status, Metadata& trailers,
                std::string_view content_type, const AddedTrailers& added) {
  const bool head_sent = content_type.empty();
  Metadata& answer = head_sent ? stream.trailers() : stream.head();
  WriteFinalAnswer(status, trailers, content_type, answer);
  Append(added, answer);
  if (head_sent) {
    stream.SendTrailers();
  } else {
    stream.SendHead(/*end=*/true);
  }
}

}  // namespace levee
