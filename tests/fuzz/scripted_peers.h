// SPDX-License-Identifier: Apache-2.0
// A caller and an upstream that a fuzzer scripts.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "h2/stream.h"
#include "virtual/session_peer.h"

namespace levee {

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
