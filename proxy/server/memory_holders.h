// SPDX-License-Identifier: Apache-2.0
// Who gives memory back first as it runs out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "h2/session.h"

namespace levee {

class AcceptedConnection;
class DownstreamConnection;
class RawTunnel;
class RpcStream;

// Something whose end frees memory.
struct MemoryHolder {
  // It says why a holder gives memory back. The later ones give first.
  enum class Reason {
    kAny,        // only where all others have given
    kOfLargest,  // its caller holds more than half of what all callers hold, over all connections
    kIdle,       // a connection that carries nothing: its caller can connect again
    kOfMuch,     // its connection holds much
  };

  // A call; an answer whose call has ended already; a tunnel; a connection of callers; one that has
  // not said what it carries.
  using Victim =
      std::variant<RpcStream*, h2::Stream*, RawTunnel*, DownstreamConnection*, AcceptedConnection*>;

  size_t bytes = 0;
  const void* connection = nullptr;    // the caller's; not followed
  uint64_t sender = 0;                 // who the caller is: ConnectionOrigin::sender
  std::optional<absl::Duration> idle;  // of a connection that carries nothing: for how long
  Victim victim;

  // SortByWhoGivesFirst says these.
  Reason reason = Reason::kAny;
  size_t weight = 0;  // of those with one reason the heaviest gives first
};

// Sorts the holders by who gives first, and says why each of them does. `holders`: the oldest
// first. `much(bytes, connections)`: how much is much for one of so many connections with calls
// that hold so much together. Calls and tunnels give by their size, the newest first among equally
// large ones. Idle connections give by what their callers hold over all connections, then by how
// long they are idle, the newest first among equal ones.
void SortByWhoGivesFirst(std::vector<MemoryHolder>& holders,
                         absl::FunctionRef<size_t(size_t bytes, size_t connections)> much);

}  // namespace levee
