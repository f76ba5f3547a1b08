// SPDX-License-Identifier: Apache-2.0
// Whether the calls of a method are streams, by its descriptor or by what its calls were.
#pragma once

#include <atomic>
#include <cstdint>

#include "wire/call_kind.h"

namespace levee {

// The kind of one method, shared by its calls on all workers. Any thread.
class MethodKind {
 public:
  // Nothing is known of the method yet.
  MethodKind() = default;
  // Its descriptor says it, so it is never learnt otherwise.
  explicit MethodKind(CallKind described)
      : kind_(StateOf(described)),
        surely_stream_(described == CallKind::kStream),
        described_(true) {}

  bool described() const { return described_; }
  // Whether every call of it that is known was unary.
  bool IsUnary() const { return Get() == State::kUnary; }
  bool IsStream() const { return Get() == State::kStream; }
  bool known() const { return Get() != State::kUnknown; }

  // Whether its descriptor says that its calls are streams, or an answer of it had a second
  // message. IsStream may be a guess, which a slow network can cause.
  bool IsSurelyStream() const { return surely_stream_.load(std::memory_order_relaxed); }

  // An answer of the method had a second message. Not of a method that is described.
  void LearnSurely() {
    if (!IsSurelyStream()) surely_stream_.store(true, std::memory_order_relaxed);
  }

  // A call of the method that the service has answered was of this kind. The last one decides
  // whether it is a stream.
  void Learn(CallKind kind) {
    State learnt = StateOf(kind);
    const State before = Get();
    if (learnt == State::kUnary && before >= State::kStream) learnt = State::kMixed;
    if (!described_ && before != learnt) kind_.store(learnt, std::memory_order_relaxed);
  }

 private:
  // kMixed: the last call was unary, and there have been streams, as where a stream of events may
  // end with its first one.
  enum class State : uint8_t { kUnknown, kUnary, kStream, kMixed };
  static State StateOf(CallKind kind) {
    return kind == CallKind::kStream ? State::kStream : State::kUnary;
  }
  State Get() const { return kind_.load(std::memory_order_relaxed); }

  std::atomic<State> kind_{State::kUnknown};
  std::atomic<bool> surely_stream_{false};
  const bool described_ = false;
};

}  // namespace levee
