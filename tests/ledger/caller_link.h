// SPDX-License-Identifier: Apache-2.0
// One connection of the caller's.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "ledger/body.h"
#include "ledger/caller.h"
#include "ledger/link.h"
#include "ledger/schedule.h"

namespace levee::ledger {

class CallerLink final : public Link {
 public:
  CallerLink(Caller& caller, int fd);
  ~CallerLink() override;

  // Begins calls until `streams` are under way, as far as there are any to begin.
  void Fill(int streams);

 private:
  struct Call {
    uint64_t id = 0;
    CallShape shape{};
    Body request;
    Body answer;
    size_t sent = 0;
    size_t received = 0;
    size_t kept_back = 0;  // of the answer's window
    bool waits = false;    // the second part of the request is not to be sent yet
    bool gives_window = true;
    bool differs = false;
    bool given_up = false;
  };
  struct Callbacks;  // The callbacks of nghttp2.

  void OnGone() override;
  void Begin(uint64_t id);
  void Behave(int32_t stream, const Call& call);
  ssize_t ReadRequest(Call& call, std::span<uint8_t> to, uint32_t& flags);
  void OnData(int32_t stream, Call& call, std::span<const uint8_t> bytes);
  void OnStatus(const Call& call, std::string_view status);
  void OnStreamEnd(int32_t stream, uint32_t error);
  // Later, if the connection and the call are still there.
  template <typename Task>
  void Later(int32_t stream, int delay_ms, Task task);

  Caller& caller_;
  std::unordered_map<int32_t, Call> calls_;
  int streams_ = 0;
  bool hangs_up_ = false;
  bool heard_ = false;  // something has come from the sidecar
  bool fills_ = false;  // Fill is about to be called.
};

}  // namespace levee::ledger
