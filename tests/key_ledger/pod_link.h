// SPDX-License-Identifier: Apache-2.0
// One connection of callers to a sidecar.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "key_ledger/key_book.h"
#include "key_ledger/pod_callers.h"
#include "ledger/link.h"

namespace levee::ledger {

class PodLink final : public Link {
 public:
  PodLink(PodCallers& callers, size_t pod, int fd);

  // Begins calls while there are any, and room.
  void Fill();
  void HangUp();

 private:
  struct Call {
    uint64_t number = 0;
    KeyCall planned;
    std::string request;  // the message with its prefix
    size_t sent = 0;
    KeyAnswer answer;
  };
  struct Callbacks;  // The callbacks of nghttp2.

  void OnGone() override;
  void Begin(const KeyCall& planned);
  void GiveUpLater(int32_t stream);
  void OnField(Call& call, std::string_view name, std::string_view value);
  void OnStreamEnd(int32_t stream);
  // Fills in another turn, after `delay`.
  void FillLater(Millis delay);

  PodCallers& callers_;
  const size_t pod_;
  bool ending_ = false;
  bool fills_ = false;  // FillLater is on its way
  size_t resting_ = 0;  // places of calls whose store was away
  std::unordered_map<int32_t, Call> calls_;
};

}  // namespace levee::ledger
