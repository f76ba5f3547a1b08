// SPDX-License-Identifier: Apache-2.0
#include "h2/peer_settings.h"

#include "wire/status.h"

namespace levee::h2 {

PeerSettings::Fault PeerSettings::Apply(Setting setting, uint32_t value) {
  switch (setting) {
    case Setting::kEnablePush:
      if (value > (may_enable_push_ ? 1u : 0u)) return {kResetProtocolError, "ENABLE_PUSH"};
      return {};
    case Setting::kMaxConcurrentStreams:
      max_streams_ = value;
      return {};
    case Setting::kInitialWindowSize:
      if (value > kMaxWindowBytes) return {kResetFlowControlError, "INITIAL_WINDOW_SIZE"};
      initial_window_ = value;
      return {};
    case Setting::kMaxFrameSize:
      if (value >= kMaxFrameBytes && value < 1u << 24) return {};
      return {kResetProtocolError, "MAX_FRAME_SIZE"};
    case Setting::kNoRfc7540Priorities:  // Nobody reads priorities here, whatever it says.
      if (value > 1) return {kResetProtocolError, "NO_RFC7540_PRIORITIES"};
      return {};
    default:
      return {};
  }
}

}  // namespace levee::h2
