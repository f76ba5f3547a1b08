// SPDX-License-Identifier: Apache-2.0
// Counts the useless work that a peer makes this side do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/instant.h"
#include "base/rate_guard.h"
#include "h2/session_options.h"

namespace levee::h2 {

// Holds one peer to the rates and the number of unread replies that SessionOptions allow. Each
// function that returns bool counts one event. False means that the event exceeds the bound, and
// that the connection must be closed. One thread.
class FloodGuard {
 public:
  explicit FloodGuard(const SessionOptions& options)
      : max_replies_(options.pending_frames),
        resets_(options.resets_per_second, 2 * options.resets_per_second),
        control_frames_(options.control_frames_per_second, 10 * options.control_frames_per_second),
        settings_(kSettingsPerSecond, 10 * kSettingsPerSecond),
        many_settings_(10 * kSettingsPerSecond, 100 * kSettingsPerSecond) {}

  // A stream ended by a reset before it had an answer.
  bool OnReset(Instant now) { return resets_.Take(now); }

  // Any control frame but SETTINGS came (see SessionOptions::control_frames_per_second).
  bool OnControlFrame(Instant now) { return control_frames_.Take(now); }

  // SETTINGS came. They count as a control frame, and also have a bound of their own.
  bool OnSettings(Instant now) { return OnControlFrame(now) && settings_.Take(now); }

  // SETTINGS came that OnSettings has refused, and the connection is still wanted for the calls
  // that run on it: ten times as many as OnSettings allows may come.
  bool OnExcessSettings(Instant now) { return many_settings_.Take(now); }

  // A frame with a head or a body came or was sent.
  void OnUsefulFrame() { control_frames_.GiveBack(kControlFramesPerUseful); }

  // `bytes` of a body were sent when flow control allowed `window` bytes. If the peer opens its
  // window byte by byte, the frames carry nearly nothing and so do not count as useful.
  void OnBodySent(size_t bytes, size_t window) {
    if (bytes < window || bytes >= kUsefulBytes) OnUsefulFrame();
  }

  // A reply that the peer provoked, an acknowledgement or a reset, now waits to be sent.
  bool OnReply() { return ++replies_ <= max_replies_; }

  // All replies that waited were sent.
  void OnRepliesSent() { replies_ = 0; }

 private:
  static constexpr uint32_t kControlFramesPerUseful = 8;
  // A frame with so much of a body is useful even if the peer's window allowed no more.
  static constexpr size_t kUsefulBytes = 1024;
  // Each SETTINGS frame may change the window of every open stream. Honest peers send a few in all.
  static constexpr uint32_t kSettingsPerSecond = 10;

  const size_t max_replies_;
  size_t replies_ = 0;
  RateGuard resets_;
  RateGuard control_frames_;
  RateGuard settings_;
  RateGuard many_settings_;
};

}  // namespace levee::h2
