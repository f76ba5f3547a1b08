// SPDX-License-Identifier: Apache-2.0
// Two HTTP/2 sessions back to back in memory: no socket, no thread, no time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "h2/session.h"
#include "h2/stream.h"
#include "wire/metadata.h"

namespace levee::h2 {

// Records the events of one stream, in one line per event.
class RecordingHandler final : public StreamHandler {
 public:
  void OnHead(Metadata& head, bool end) override;
  void OnData(const Chunk& data) override;
  void OnEnd(Metadata* trailers) override;
  void OnSent(size_t bytes) override { sent += bytes; }
  void OnClosed(const StreamEnd& end) override;

  Stream* stream = nullptr;  // nullptr once closed
  bool credit = true;        // returns the window of what it receives
  std::string events;        // "head ...; end; closed ..."
  std::string body;
  std::vector<Chunk> pieces;  // of the body
  size_t sent = 0;
  StreamEnd closed_with;
};

// One side: a session, and a handler per stream.
class Side final : public SessionHandler, public OutputHandler {
 public:
  Side(Session::Role role, const Session::Options& options);

  StreamHandler* OnRequest(Stream& stream, Metadata& head, bool end) override;
  void OnGoaway() override { goaways += 1; }
  void OnSlotsFree() override {}
  void OnProtocolError(std::string_view what) override { protocol_error = what; }
  void OnLimit(SessionLimit limit) override { limits.push_back(limit); }
  void OnOutputPending() override {}

  // Everything the session has to say now, serialised into pieces of at most `capacity`.
  std::vector<uint8_t> Take(size_t capacity = OutputBuffer::kMinimum * 2);

  // Server side: the handler of the i-th request that came.
  RecordingHandler& request(size_t i) { return *requests.at(i); }

  StreamPool pool;
  Session session;
  std::vector<std::unique_ptr<RecordingHandler>> requests;
  bool credit_requests = true;  // for handlers of requests to come
  std::string protocol_error;
  std::vector<SessionLimit> limits;
  int goaways = 0;
};

// A client and a server. Pump carries bytes both ways until both are silent.
class SessionPair {
 public:
  explicit SessionPair(Session::Options client_options = {}, Session::Options server_options = {});

  // `piece`: how many bytes Receive gets at a time.
  void Pump(size_t piece = 1 << 20);

  // Opens a stream and sends the head of a gRPC request on it.
  Stream& StartCall(RecordingHandler& handler, bool end = false);

  Instant now;  // of what the sides receive; a test moves it
  Side client;
  Side server;
};

// "name=value" of every field, separated by blanks.
std::string Text(const Metadata& fields);

// A response head with :status 200 and gRPC's content type.
void FillResponseHead(Stream& stream);

Chunk Bytes(std::string_view text);

}  // namespace levee::h2
