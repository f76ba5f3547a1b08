// SPDX-License-Identifier: Apache-2.0
// Frames without heads and bodies that a session receives.
#pragma once

#include "base/chunk.h"
#include "h2/ends.h"
#include "h2/frame.h"
#include "h2/link.h"
#include "h2/receive_windows.h"
#include "h2/sender.h"

namespace levee::h2 {

// Checks these frames, counts them, and tells the part of the session that each concerns. One
// thread.
class ControlReceiver {
 public:
  ControlReceiver(Link& link, Ends& ends, ReceiveWindows& windows, Sender& sender)
      : link_(link), ends_(ends), windows_(windows), sender_(sender) {}

  // Takes any frame but HEADERS, CONTINUATION and DATA.
  void OnFrame(const FrameHead& head, ByteSpan payload);

 private:
  void OnPriority(const FrameHead& head, ByteSpan payload);
  void OnRstStream(const FrameHead& head, ByteSpan payload);
  void OnSettings(const FrameHead& head, ByteSpan payload);
  void OnExcessSettings();
  void OnPing(const FrameHead& head, ByteSpan payload);
  void OnGoaway(const FrameHead& head, ByteSpan payload);
  void OnWindowUpdate(const FrameHead& head, ByteSpan payload);

  Link& link_;
  Ends& ends_;
  ReceiveWindows& windows_;
  Sender& sender_;
};

}  // namespace levee::h2
