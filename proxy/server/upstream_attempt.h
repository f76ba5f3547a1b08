// SPDX-License-Identifier: Apache-2.0
// One attempt on the network: a stream to an endpoint, and what its end means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "base/chunk.h"
#include "base/random.h"
#include "call/call_host.h"
#include "h2/stream.h"
#include "policy/retry_decision.h"
#include "server/call_plan.h"
#include "server/request_head.h"
#include "trace/call_trace.h"
#include "upstream/pool.h"
#include "wire/metadata.h"

namespace levee {

class RpcStream;

// Reused for one attempt of a call after the other; tells the call of its events. One thread.
class UpstreamAttempt final : public StreamUser {
 public:
  // `random`: for span ids. All outlive it.
  UpstreamAttempt(RpcStream& rpc, Random& random, const Hop& hop)
      : rpc_(rpc), random_(random), hop_(hop) {}
  ~UpstreamAttempt() { Cancel(); }
  UpstreamAttempt(const UpstreamAttempt&) = delete;
  UpstreamAttempt& operator=(const UpstreamAttempt&) = delete;

  // Asks the destination's pool for a stream; `request` must stay as it is until the attempt ends.
  // `honor`: the signals that are looked for in a failure. `trace`: of the call, which outlives the
  // attempt; may be nullptr. Events carry `id`.
  void Start(AttemptId id, Destination& destination, const Metadata& request,
             const AttemptStart& start, const HonoredSignals& honor, const CallTrace* trace);

  void SendRequest(const Chunk& chunk, bool end);

  // Ends the attempt without a word to the call.
  void Cancel();

  // How it has ended, or is about to: the pool learns from it.
  void Judge(bool success);

  // The caller took `bytes` of the response.
  void Credit(size_t bytes);

  // The bytes of the request that are not sent yet, and the memory of heads.
  size_t held_bytes() const;

  AttemptId id() const { return id_; }
  int64_t endpoint() const { return endpoint_; }  // -1: none yet
  AttemptPlace place() const;

 private:
  void OnOpened(UpstreamConnection& connection, h2::Stream& stream, int64_t endpoint) override;
  void OnOpenFailed(const std::string& reason, bool to_self) override;
  void OnHead(Metadata& head, bool end) override;
  void OnData(const Chunk& data) override;
  void OnEnd(Metadata* trailers) override;
  void OnSent(size_t bytes) override;
  void OnClosed(const StreamEnd& end) override;

  void EndWithTrailers(Metadata& trailers);
  // Ends it with an answer that is final, as if the upstream had sent it.
  void EndForUpstream(StatusCode code, std::string_view message);
  void EndOversized();
  // It left no trailers.
  void Fail(AttemptOutcome outcome);
  void End(AttemptOutcome& outcome, Metadata& trailers);
  void LetGo(uint32_t error_code);

  RpcStream& rpc_;
  Random& random_;
  const Hop& hop_;
  AttemptId id_ = 0;
  Pool* pool_ = nullptr;
  const RetryHistory* retries_ = nullptr;  // of the destination
  const Metadata* request_ = nullptr;
  const CallTrace* trace_ = nullptr;
  HonoredSignals honor_;
  AttemptStart start_;
  Instant started_;
  Instant opened_;
  h2::Stream* stream_ = nullptr;
  const UpstreamConnection* connection_ = nullptr;  // of the stream
  int64_t endpoint_ = -1;
  bool request_ended_ = false;
  bool head_seen_ = false;
  absl::Duration head_after_;             // it was opened
  absl::InlinedVector<Chunk, 2> unsent_;  // until the stream is open
};

}  // namespace levee
