// SPDX-License-Identifier: Apache-2.0
// The two ends of a real worker's connections: the upstream that plays a case's answers, and the
// caller that makes its calls.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "h2/stream.h"
#include "sim/observed.h"
#include "sim/sim_clock.h"
#include "sim/twin_case.h"
#include "virtual/session_peer.h"

namespace levee {

// What the ends of a case share. `clock` plays the answers, in step with the worker's time.
struct RealStage {
  const TwinCase& twin;
  SimClock& clock;
  Instant begin;
  std::vector<std::vector<SeenAttempt>> attempts;  // by call
  bool tied = false;                               // as in Observed

  absl::Duration now() const { return clock.now() - begin; }
};

// A connection to one endpoint of the upstream.
class RealUpstream final : public SessionPeer {
 public:
  RealUpstream(int fd, int endpoint, RealStage& stage);
  ~RealUpstream() override;

 private:
  class Attempt;
  h2::StreamHandler* OnRequest(h2::Stream& stream, Metadata& head, bool end) override;

  const int endpoint_;
  RealStage& stage_;
  std::vector<std::unique_ptr<Attempt>> attempts_;
};

// The caller's connection.
class RealCaller final : public SessionPeer {
 public:
  RealCaller(int fd, RealStage& stage);
  ~RealCaller() override;

  // Makes the n-th call; it speaks and leaves when the case says.
  void Start(size_t n);

  // Whether every call has its answer or has left.
  bool done() const;

  // The answer to the n-th call, in the words of TextOfAnswer.
  const std::string& answer(size_t n) const;

 private:
  class Call;
  RealStage& stage_;
  std::vector<std::unique_ptr<Call>> calls_;
};

}  // namespace levee
