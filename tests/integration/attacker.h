// SPDX-License-Identifier: Apache-2.0
// A caller that floods, and what is expected of those it floods.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "integration/frames.h"
#include "integration/sidecar_process.h"

namespace levee {

// What the GOAWAY says that ends a flood.
inline constexpr auto kCalm = static_cast<uint32_t>(H2Error::kEnhanceYourCalm);

// Sends frames as fast as they are taken. One thread.
class Attacker {
 public:
  // Whether it takes what comes meanwhile. If an attacker does not read, the other side has to hold
  // the bytes.
  enum class Reading { kAll, kNothing };

  // Connects and greets. `settings`: payload of the SETTINGS frame that follows the preface.
  explicit Attacker(const std::string& address, Reading reading = Reading::kAll,
                    std::string_view settings = "");
  ~Attacker();
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;

  // False once the connection has ended, or if nothing is taken for kPatience.
  bool Send(std::string_view frames);

  // Sends what `piece` makes of 0, 1, ... `pieces` - 1, as long as the connection lasts.
  void Flood(int pieces, const std::function<std::string(int)>& piece);

  // Whether the other side has ended the connection, as far as it has been noticed.
  bool ended() const { return ended_; }

  // Reads until the connection ends: the error code of the last GOAWAY; nullopt if none came, or if
  // there is no end for kPatience, which is a failure.
  std::optional<uint32_t> AwaitEnd();

 private:
  void Receive();

  const int fd_;
  const Reading reading_;
  bool ended_ = false;
  std::string received_;  // no whole frame yet
  std::optional<uint32_t> goaway_;
};

// A frame as it is sent.
std::string EncodeFrame(FrameType type, uint8_t flags, int32_t stream, std::string_view payload);

// A call's frames up to the end of its head, without END_STREAM. `call`: 0, 1, ...
std::string OpenCall(int call, const HeaderList& more = {});
int32_t StreamOf(int call);
std::string ResetCall(int call);

// How often a limit was reached.
double Hits(const SidecarProcess& sidecar, const std::string& limit);

// A child's memory is that of its own only without AddressSanitizer, which keeps what was freed:
// 128 MiB as the preset asks, and about as much of its own records.
#ifdef __SANITIZE_ADDRESS__
inline constexpr long kSanitizerMayKeep = 300L * 1024 * 1024;
#else
inline constexpr long kSanitizerMayKeep = 0;
#endif

}  // namespace levee
