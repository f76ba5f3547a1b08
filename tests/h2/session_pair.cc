// SPDX-License-Identifier: Apache-2.0
#include "h2/session_pair.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace levee::h2 {
namespace {

void Add(std::string& events, const std::string& event) {
  if (!events.empty()) events += "; ";
  events += event;
}

std::string CauseName(const StreamEnd& end) {
  switch (end.cause) {
    case StreamEnd::Cause::kComplete:
      return "complete";
    case StreamEnd::Cause::kReset:
      return absl::StrCat("reset ", end.error_code);
    case StreamEnd::Cause::kExcluded:
      return "excluded";
    case StreamEnd::Cause::kLost:
      return end.left ? "lost" : "lost before it left";
    case StreamEnd::Cause::kStalled:
      return "stalled";
  }
  return "?";
}

}  // namespace

std::string Text(const Metadata& fields) {
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ' ';
    text.append(fields[i].name).append("=").append(fields[i].value);
  }
  return text;
}

void RecordingHandler::OnHead(Metadata& head, bool end) {
  Add(events, absl::StrCat(end ? "only " : "head ", Text(head)));
}

void RecordingHandler::OnData(const Chunk& data) {
  pieces.push_back(data);
  body.append(reinterpret_cast<const char*>(data.data()), data.size());
  if (credit) stream->Credit(data.size());
}

void RecordingHandler::OnEnd(Metadata* trailers) {
  Add(events, trailers == nullptr ? "end" : absl::StrCat("trailers ", Text(*trailers)));
}

void RecordingHandler::OnClosed(const StreamEnd& end) {
  Add(events, absl::StrCat("closed ", CauseName(end)));
  closed_with = end;
  stream = nullptr;
}

Side::Side(Session::Role role, const Session::Options& options)
    : session(role, options, *this, *this, pool) {}

StreamHandler* Side::OnRequest(Stream& stream, Metadata& head, bool end) {
  auto handler = std::make_unique<RecordingHandler>();
  handler->stream = &stream;
  handler->credit = credit_requests;
  Add(handler->events,
      absl::StrCat(end ? "only " : "head ", Text(head), stream.oversized() ? " (cut)" : ""));
  requests.push_back(std::move(handler));
  return requests.back().get();
}

std::vector<uint8_t> Side::Take(size_t capacity) {
  std::vector<uint8_t> bytes;
  OutputBuffer out(capacity);
  for (bool more = true; more;) {
    more = session.Serialize(out);
    for (ByteSpan piece : out.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
    out.Clear();
  }
  return bytes;
}

SessionPair::SessionPair(Session::Options client_options, Session::Options server_options)
    : client(Session::Role::kClient, client_options),
      server(Session::Role::kServer, server_options) {}

void SessionPair::Pump(size_t piece) {
  for (bool silent = false; !silent;) {
    silent = true;
    for (auto [from, to] : {std::pair{&client, &server}, std::pair{&server, &client}}) {
      const std::vector<uint8_t> bytes = from->Take();
      if (!bytes.empty()) silent = false;
      for (size_t at = 0; at < bytes.size(); at += piece) {
        to->session.Receive({bytes.data() + at, std::min(piece, bytes.size() - at)}, now);
      }
    }
  }
}

Stream& SessionPair::StartCall(RecordingHandler& handler, bool end) {
  Stream& stream = client.session.Open(handler);
  handler.stream = &stream;
  stream.head().Add(":method", "POST");
  stream.head().Add(":scheme", "http");
  stream.head().Add(":path", "/a.B/C");
  stream.head().Add(":authority", "x:1");
  stream.SendHead(end);
  return stream;
}

void FillResponseHead(Stream& stream) {
  stream.head().Add(":status", "200");
  stream.head().Add("content-type", "application/grpc");
}

Chunk Bytes(std::string_view text) {
  return Chunk::Copy({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace levee::h2
