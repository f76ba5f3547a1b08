// SPDX-License-Identifier: Apache-2.0
// Two servers that get the same bytes of a client: a session of Levee's, and one of nghttp2. Both
// keep what a client or an application can see of them.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "h2/session.h"

namespace levee {

// A stream, as far as it was accepted.
struct SeenStream {
  std::vector<std::pair<std::string, std::string>> head;  // empty: it was not handed on
  std::string body;
  bool ended = false;  // by the client
  bool reset = false;  // by the server
  bool operator==(const SeenStream&) const = default;
};

struct Seen {
  std::map<uint32_t, SeenStream> streams;
  bool broken = false;  // the server has ended the connection because of a fault
  uint32_t error = 0;   // of its GOAWAY
  std::string why;      // the text of its GOAWAY
};

// The streams that a client may have open with either. Other bounds, which only one of them has,
// are so far away that no input reaches them.
inline constexpr uint32_t kMaxStreams = 6;

// A server that credits what it gets, and answers a request at its end with a head alone.
class ObservedServer {
 public:
  virtual ~ObservedServer() = default;

  // Takes bytes of the client, and sends what there is to send.
  void Receive(std::string_view bytes);
  const Seen& seen() const { return seen_; }

 protected:
  // Returns false if the session cannot go on.
  virtual bool Take(std::string_view bytes) = 0;
  // Returns what is to be sent.
  virtual std::string Say() = 0;

  Seen seen_;

 private:
  void TakeNote(std::string_view sent);

  std::string sent_;  // no whole frame yet
};

class LeveeServer final : public ObservedServer,
                          private h2::SessionHandler,
                          private h2::OutputHandler {
 public:
  LeveeServer();
  ~LeveeServer() override;

 private:
  class Request;
  bool Take(std::string_view bytes) override;
  std::string Say() override;
  h2::StreamHandler* OnRequest(h2::Stream& stream, Metadata& head, bool end) override;
  void OnGoaway() override {}
  void OnSlotsFree() override {}
  void OnProtocolError(std::string_view) override {}
  void OnLimit(h2::SessionLimit) override {}
  void OnOutputPending() override {}

  h2::OutputBuffer output_;
  h2::StreamPool pool_;
  std::vector<std::unique_ptr<Request>> requests_;
  h2::Session session_;
};

class PeerServer final : public ObservedServer {
 public:
  PeerServer();

 private:
  struct Callbacks;
  bool Take(std::string_view bytes) override;
  std::string Say() override;

  std::unique_ptr<nghttp2_session, decltype(&nghttp2_session_del)> session_;
  std::map<uint32_t, SeenStream> begun_;  // whose head is not complete
};

}  // namespace levee
