// SPDX-License-Identifier: Apache-2.0
// The receiving half of a session.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/chunk.h"
#include "h2/control_receiver.h"
#include "h2/ends.h"
#include "h2/frame.h"
#include "h2/frame_reader.h"
#include "h2/link.h"
#include "h2/message_receiver.h"
#include "h2/receive_windows.h"
#include "h2/sender.h"
#include "h2/session_options.h"

namespace levee::h2 {

// Makes frames of the bytes, checks their order, and gives each to the part that takes its type.
// One thread.
class Receiver {
 public:
  Receiver(const SessionOptions& options, Link& link, Ends& ends, ReceiveWindows& windows,
           Sender& sender);

  // See Session. Does not free streams that have ended.
  void Receive(ByteSpan bytes, const Chunk& shared);

  // See Session.
  size_t untaken() const { return untaken_; }
  uint64_t frames() const { return frames_; }
  size_t unfinished_bytes() const {
    return reader_.held_bytes() + messages_.held_bytes() + (messages_.open_block() != 0 ? 1 : 0);
  }
  bool unfinished_anew() const { return unfinished_anew_; }
  bool answered() const { return messages_.answered(); }

 private:
  bool TakePreface(ByteSpan& bytes);
  void Dispatch(FrameReader::Event event, const Chunk* slices_of);

  Link& link_;
  MessageReceiver messages_;
  ControlReceiver control_;
  FrameReader reader_;
  size_t untaken_ = 0;
  uint64_t frames_ = 0;
  uint8_t preface_left_;  // server role: how many bytes of the preface have not come yet
  bool unfinished_anew_ = false;
};

}  // namespace levee::h2
