// SPDX-License-Identifier: Apache-2.0
// A peer of the worker that keeps to the protocol, and demands that the worker does.
#pragma once

#include <string_view>

#include "h2/session.h"
#include "h2/stream.h"
#include "virtual/wire_end.h"

namespace levee {

// A caller's or an upstream's end of a connection. What the worker does that HTTP/2 forbids ends
// the process.
class SessionPeer : protected h2::SessionHandler, private h2::OutputHandler {
 public:
  SessionPeer(h2::Session::Role role, int fd);
  virtual ~SessionPeer() = default;

  // Takes what has come and writes what there is to say. True if something moved.
  bool Pump();

  bool open() const { return wire_.open(); }
  void Close() { wire_.Close(); }

 protected:
  h2::StreamHandler* OnRequest(h2::Stream&, Metadata&, bool) override { return nullptr; }
  void OnGoaway() override {}
  void OnSlotsFree() override {}
  void OnProtocolError(std::string_view what) override;
  void OnLimit(h2::SessionLimit) override {}

  h2::Session& session() { return session_; }

 private:
  void OnOutputPending() override {}

  WireEnd wire_;
  h2::OutputBuffer output_;
  h2::StreamPool pool_;
  h2::Session session_;
  bool lost_ = false;
};

}  // namespace levee
