// SPDX-License-Identifier: Apache-2.0
// One HTTP/2 connection of the ledger's, either end of it: an nghttp2 session over a socket that
// can be made slow, deaf or dead.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "ledger/loop.h"

namespace levee::ledger {

// Neither is copied, so both must last until the call that takes it returns.
nghttp2_nv Field(std::string_view name, std::string_view value);

// Returns what the buffer holds, as long as it lasts. The bytes are followed by a zero.
std::string_view TextOf(nghttp2_rcbuf* buffer);

class Link : public Ready, public std::enable_shared_from_this<Link> {
 public:
  ~Link() override;

  // From now on the next `bytes` bytes are read, or written, one at a time.
  void ReadSlowly(size_t bytes) { slow_reads_ = bytes; }
  void WriteSlowly(size_t bytes) { slow_writes_ = bytes; }

  // From now on it neither reads nor writes.
  void Freeze();

  // Sends bytes that are no frame of the session's.
  void SendRaw(std::string_view bytes);

  enum class Manner { kEnd, kReset };  // of TCP
  void Close(Manner manner);
  // The same when what is waiting to be sent has been given to the system, if it takes it at once.
  void CloseAfterFlush(Manner manner);

  bool closed() const { return fd_ < 0; }

 protected:
  Link(Loop& loop, int fd);

  // Of the derived class's constructor; the session is deleted here.
  void Adopt(nghttp2_session* session);

  // Output may be waiting.
  void Wake() { loop_.Touch(*this); }

  // The connection is gone, whoever ended it. Once.
  virtual void OnGone() = 0;

  Loop& loop_;
  nghttp2_session* session_ = nullptr;

 private:
  void OnReady(uint32_t events) override;
  void OnTurnEnd() override;
  void ReadSome();
  bool Feed(const uint8_t* bytes, size_t size);
  void Flush();
  bool WriteOut();
  void WatchFor(uint32_t events);

  int fd_;
  uint32_t watched_ = EPOLLIN;
  std::vector<uint8_t> out_;
  size_t sent_ = 0;
  size_t slow_reads_ = 0;
  size_t slow_writes_ = 0;
  bool frozen_ = false;
  bool close_after_flush_ = false;
  Manner manner_ = Manner::kEnd;
};

}  // namespace levee::ledger
