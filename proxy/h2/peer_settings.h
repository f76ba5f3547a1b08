// SPDX-License-Identifier: Apache-2.0
// The peer's SETTINGS (RFC 9113, section 6.5).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/chunk.h"
#include "h2/frame.h"

namespace levee::h2 {

// The values that this side must keep to when it sends. One thread.
class PeerSettings {
 public:
  static constexpr size_t kEntryBytes = 6;

  // Why SETTINGS are not valid. `what` is static text, nullptr if they are.
  struct Fault {
    uint32_t error_code = 0;
    const char* what = nullptr;
  };

  // `may_enable_push`: the peer is a client, for which ENABLE_PUSH may be 1.
  explicit PeerSettings(bool may_enable_push) : may_enable_push_(may_enable_push) {}

  // Takes the payload of a SETTINGS frame that is no acknowledgement; its size is a multiple of
  // kEntryBytes. Calls set_table_bytes(uint32_t) for each HEADER_TABLE_SIZE in it, in order, since
  // the smallest matters as well as the last (RFC 7541, section 4.2).
  template <typename F>
  Fault Take(ByteSpan payload, F set_table_bytes) {
    if (!received_) max_streams_ = UINT32_MAX;  // The first SETTINGS may set no limit.
    for (; !payload.empty(); payload = payload.subspan(kEntryBytes)) {
      const auto setting = static_cast<Setting>(payload[0] << 8 | payload[1]);
      const uint32_t value = ReadUint32(payload.data() + 2);
      if (setting == Setting::kHeaderTableSize) {
        set_table_bytes(value);
      } else if (const Fault fault = Apply(setting, value); fault.what != nullptr) {
        return fault;
      }
    }
    received_ = true;
    return {};
  }

  // Whether valid SETTINGS have come.
  bool received() const { return received_; }

  // How many streams this side may have open.
  int64_t max_streams() const { return max_streams_; }

  // The number of bytes with which a stream's send window begins.
  int64_t initial_window() const { return initial_window_; }

 private:
  // RFC 9113 sets no limit until the peer's SETTINGS arrive. This is the least value that it
  // recommends for the limit (section 6.5.2).
  static constexpr uint32_t kStreamsBeforeSettings = 100;

  Fault Apply(Setting setting, uint32_t value);

  const bool may_enable_push_;
  bool received_ = false;
  uint32_t max_streams_ = kStreamsBeforeSettings;
  uint32_t initial_window_ = kInitialWindowBytes;
};

}  // namespace levee::h2
