// A peer of the worker that keeps to the protocol, and demands that the worker does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/wire_end.h"
#include "h2/session.h"
#include "h2/stream.h"

namespace levee {

// A caller's or an upstream's end of a connection. If the worker does something that HTTP/2
// forbids, the process ends.
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

// An upstream that treats its n-th request as byte n of a script says, over and over again.
class ScriptedUpstream final : public SessionPeer {
 public:
  // `script`: not empty; `requests`: how many came so far, on all connections.
  ScriptedUpstream(int fd, std::string_view script, size_t& requests);
  ~ScriptedUpstream() override;

 private:
  class Request;
  h2::StreamHandler* OnRequest(h2::Stream& stream, Metadata& head, bool end) override;

  const std::string script_;
  size_t& requests_;
  std::vector<std::unique_ptr<Request>> open_;
};

// A caller of gRPC methods.
class Caller final : public SessionPeer {
 public:
  explicit Caller(int fd);
  ~Caller() override;

  // Starts a call if the connection allows one more; `end`: `body` is all there is to it.
  void Start(std::string_view body, bool end);

  // More of the body of the n-th call, from 0; nothing if it has ended.
  void Send(size_t call, std::string_view body, bool end);
  void Reset(size_t call);

  size_t calls() const { return calls_.size(); }

  // Every call that was not reset by the caller has had one answer, or was reset.
  void CheckAnswered() const;

 private:
  class Call;
  std::vector<std::unique_ptr<Call>> calls_;
};

}  // namespace levee
