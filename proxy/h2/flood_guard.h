// SPDX-License-Identifier: Apache-2.0
// Counts what a peer makes this side do for nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/instant.h"
#include "h2/rate_guard.h"
#include "h2/session_options.h"

namespace levee::h2 {

// Holds one peer to the rates and the number of unread answers that SessionOptions allow. Each
// function that returns bool counts one event; false means that it was one too many, and that the
// connection must be closed. One thread.
class FloodGuard {
 public:
  explicit FloodGuard(const SessionOptions& options)
      : max_replies_(options.pending_frames),
        resets_(options.resets_per_second, 2 * options.resets_per_second),
        control_frames_(options.control_frames_per_second, 10 * options.control_frames_per_second),
        settings_(kSettingsPerSecond, 10 * kSettingsPerSecond) {}

  // A stream ended by a reset before it had an answer.
  bool OnReset(Instant now) { return resets_.Take(now); }

  // Any control frame but SETTINGS came (see SessionOptions::control_frames_per_second).
  bool OnControlFrame(Instant now) { return control_frames_.Take(now); }

  // SETTINGS came: a control frame that has a bound of its own besides.
  bool OnSettings(Instant now) { return OnControlFrame(now) && settings_.Take(now); }

  // A frame with a head or a body came or was sent.
  void OnUsefulFrame() { control_frames_.GiveBack(kControlFramesPerUseful); }

  // `bytes` of a body were sent where flow control allowed `window`. A peer that opens its window
  // byte by byte asks for frames that carry next to nothing, and these make up for nothing.
  void OnBodySent(size_t bytes, size_t window) {
    if (bytes < window || bytes >= kUsefulBytes) OnUsefulFrame();
  }

  // A frame that the peer provoked waits to be sent.
  bool OnReply() { return ++replies_ <= max_replies_; }

  // None of those waits any more.
  void OnRepliesSent() { replies_ = 0; }

 private:
  static constexpr uint32_t kControlFramesPerUseful = 8;
  // So much body is useful even where the peer's window allowed no more.
  static constexpr size_t kUsefulBytes = 1024;
  // Each changes the window of every open stream; honest peers send a handful in all.
  static constexpr uint32_t kSettingsPerSecond = 10;

  const size_t max_replies_;
  size_t replies_ = 0;
  RateGuard resets_;
  RateGuard control_frames_;
  RateGuard settings_;
};

}  // namespace levee::h2
