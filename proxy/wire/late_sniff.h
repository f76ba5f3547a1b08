// SPDX-License-Identifier: Apache-2.0
// Tells HTTP/2 from everything else on a connection whose caller was silent too long for Sniff.
#pragma once

#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// Says what to do with the bytes that the two sides of a relay have sent.
enum class Late {
  kHold,    // keep them, and look again when more have come, or at due()
  kPassOn,  // give them to the other side, untouched, as all that follow
  kHttp2,   // the caller speaks HTTP/2: nobody else need have its bytes
};

// A caller that says nothing may wait for its server to speak first, or be slow, such as a JVM that
// has just started. So its destination is connected to, and what happens first decides. A server of
// HTTP/2 speaks first, too: its SETTINGS are kept from the caller for a while, because no client of
// HTTP/2 waits for them (RFC 9113, section 3.4). Until a byte has been passed on, the connection
// can still be served as if the caller had not been silent. A value without clock; one thread.
class LateSniff {
 public:
  // The rest of a preface, or of the head of SETTINGS, has this long to come.
  static constexpr absl::Duration kUnfinished = absl::Milliseconds(100);

  // SETTINGS are kept this long from a caller that says nothing. To one that speaks HTTP/2 it makes
  // no difference how long that is. It is what a server of another protocol loses whose first bytes
  // look the same.
  static constexpr absl::Duration kSettings = absl::Seconds(10);

  // All that has come so far. `ended`: at least one of the two sends nothing more.
  struct Heard {
    std::string_view caller;
    std::string_view destination;
    bool ended = false;
  };

  // Returns what to do. `heard` grows from one look to the next.
  Late Look(const Heard& heard, Instant now);

  // When kHold ends even if nothing more comes; Infinite: never.
  Instant due() const { return due_; }

 private:
  Late HoldFor(absl::Duration time, std::optional<Instant>& since, Instant now);

  std::optional<Instant> caller_since_;  // when its first bytes were seen
  std::optional<Instant> destination_since_;
  Instant due_ = Instant::Infinite();
};

}  // namespace levee
