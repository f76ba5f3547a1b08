// SPDX-License-Identifier: Apache-2.0
// One connection of an upstream endpoint.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>

#include "ledger/body.h"
#include "ledger/link.h"
#include "ledger/schedule.h"
#include "ledger/upstream.h"

namespace levee::ledger {

class UpstreamLink final : public Link {
 public:
  UpstreamLink(Upstream& upstream, int fd);
  ~UpstreamLink() override;

  // GOAWAY in two steps, as servers do that end in order; closes when its calls have ended.
  void GoAway();

 private:
  struct Attempt {
    int32_t stream = 0;
    uint64_t id = 0;
    int previous = 0;  // attempts before it, by its header
    FaultShape fault{};
    Body request;
    Body answer;
    size_t received = 0;
    size_t answered = 0;
    size_t stalled_bytes = 0;  // of window that is not given back yet
    bool over = false;         // nothing more is done for it
  };
  struct Callbacks;  // The callbacks of nghttp2.

  void OnGone() override;
  void OnHead(Attempt& attempt);
  void BreakConnection(Attempt& attempt);
  void OnData(Attempt& attempt, std::span<const uint8_t> bytes);
  void GiveBack(Attempt& attempt, size_t bytes);
  void OnRequestEnd(Attempt& attempt);
  void AnswerWell(Attempt& attempt);
  // As its fault says, instead of doing its work; false if it says nothing of the kind.
  bool AnswerFaultily(Attempt& attempt);
  void AnswerStatus(Attempt& attempt, const Ending& ending);
  void AnswerHttp(Attempt& attempt);
  ssize_t ReadAnswer(Attempt& attempt, std::span<uint8_t> to, uint32_t& flags);

  // Cuts the attempt if this is the moment to; true if it did.
  bool CutAt(Attempt& attempt, Moment moment);
  void Reset(Attempt& attempt, uint32_t error);
  // Later, if the connection is still there.
  void Later(Millis delay, std::function<void()> task);
  // The same, if the attempt is still there as well.
  void AnswerLater(const Attempt& attempt, std::function<void(Attempt&)> answer);
  void LimitStreams(uint32_t streams);
  void SubmitGoaway(int32_t last_stream);

  Upstream& upstream_;
  std::unordered_map<int32_t, Attempt> attempts_;
  size_t stalled_bytes_ = 0;  // of the connection's window
  bool stalled_ = false;
  // Streams above it are ignored: a GOAWAY, which may take its time to leave, excludes them.
  int32_t last_stream_ = std::numeric_limits<int32_t>::max();
};

}  // namespace levee::ledger
