// SPDX-License-Identifier: Apache-2.0
#include "server/memory_relief.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "base/block_cache.h"
#include "server/memory_measure.h"

namespace levee {
namespace {

constexpr uint32_t kSmallWindow = 16 * 1024;

// The windows of one worker's busy streams may together be larger than usual by this share of the
// limit, and by this much.
constexpr int64_t kGrowthShare = 64;
constexpr int64_t kMostGrowth = 64 * 1024 * 1024;

// A turn may read this share of the memory that is left, so that what all workers make of the bytes
// before they look again fits: a head is held several times while its call runs.
constexpr int64_t kReadShare = 32;
constexpr int64_t kLeastRead = 64 * 1024;

// And so much may be made: of what is read, again of what was held back, and again by what waits
// for the end of the turn, such as attempts for a connection that has come up. It is less than what
// may be read because not everything that is made is in blocks, and because every worker may make
// so much before any of them looks again.
constexpr int64_t kMadeShare = 64;
constexpr int64_t kLeastMade = 128 * 1024;

// While bytes are held back, a socket reads this much at a time: what all connections together have
// held back is to be little, and whoever sends most of it has small frames.
constexpr size_t kReadBesideHeldBack = 4 * 1024;

// The least time between two looks at the tables that callers have filled.
constexpr absl::Duration kTablesPause = absl::Milliseconds(250);

// The least time between two looks at idle connections and at what each caller holds.
constexpr absl::Duration kCallersPause = absl::Milliseconds(50);

// Of the objects of a call and its streams, which come to its bodies and heads; of a tunnel; of a
// connection that carries nothing, and more if it has TLS.
constexpr size_t kCallBytes = 4 * 1024;
constexpr size_t kTunnelBytes = 4 * 1024;
constexpr size_t kIdleBytes = 8 * 1024;
constexpr size_t kTlsBytes = 16 * 1024;

size_t IdleBytes(const ConnectionOrigin& origin) {
  return kIdleBytes + (origin.listener->tls == nullptr ? 0 : kTlsBytes);
}

// Ends a holder.
struct EndHolder {
  void operator()(RpcStream* call) const { call->EndForMemory(); }
  void operator()(h2::Stream* rest) const { rest->Reset(kResetEnhanceYourCalm); }
  void operator()(RawTunnel* tunnel) const { tunnel->Close(); }
  void operator()(AcceptedConnection* connection) const { connection->Close(); }
  // With GOAWAY, behind which the caller can repeat a call that is under way here.
  void operator()(DownstreamConnection* connection) const {
    connection->Leave();
    connection->Leave();
  }
};

}  // namespace

bool MemoryRelief::Look() {
  MeasureFreedMemory(account_);
  GiveBlocksBack();
  int64_t bytes = AllocatedBlockBytes();
  MemoryLevel level = account_.Level(bytes, level_);
  if (level > MemoryLevel::kPlenty) {
    ReleaseFreeBlocks();
    bytes = AllocatedBlockBytes();
    level = account_.Level(bytes, level_);
  }
  level_ = level;
  if (GiveTablesBack()) {
    bytes = AllocatedBlockBytes();
    level_ = account_.Level(bytes, level_);
  }
  Adjust();
  LookAtIdle();
  const int64_t free = account_.Free(bytes);
  io_.loop.SetReadAllowance(std::max(free / kReadShare, kLeastRead));
  io_.loop.SetReadMost(io_.held_back.empty() ? SIZE_MAX : kReadBesideHeldBack);
  made_in_turn_ = std::max(free / kMadeShare, kLeastMade);
  AllowBlocks(made_in_turn_);
  if (level_ < MemoryLevel::kFull) return false;
  EndLargest(account_.Excess(bytes), account_.ExcessOfAll(bytes));
  return true;
}

void MemoryRelief::GiveBlocksBack() {
  const int64_t wanted = account_.wanted_back();
  if (std::exchange(given_back_, wanted) == wanted) return;
  ReleaseFreeBlocks();
  account_.SetBlocksAreBack();
}

// Not in each turn: what is made anew meanwhile is little, and measuring takes milliseconds.
bool MemoryRelief::GiveTablesBack() {
  const Instant now = io_.loop.now();
  if (level_ < MemoryLevel::kFull || now < tables_due_) return false;
  tables_due_ = now + kTablesPause;
  if (destinations_.GiveBack(account_.Excess(AllocatedBlockBytes())) == 0) return false;
  ReleaseFreeBlocks();
  MeasureMemory(account_);
  return true;
}

void MemoryRelief::OnEnded() {
  ReleaseFreeBlocks();
  // The bytes that a connection has for TLS are in no block.
  if (std::exchange(ended_connections_, false)) MeasureMemory(account_);
  level_ = account_.Level(AllocatedBlockBytes(), level_);
  Adjust();
}

void MemoryRelief::Adjust() {
  const bool plenty = level_ == MemoryLevel::kPlenty;
  io_.stream_window = plenty ? h2::SessionOptions().stream_window_bytes : kSmallWindow;
  io_.streams.SetRoomToGrow(plenty ? std::min(account_.limit() / kGrowthShare, kMostGrowth) : 0);
}

void MemoryRelief::LookAtIdle() {
  const Instant now = io_.loop.now();
  if (level_ < MemoryLevel::kTight || now < idle_due_) return;
  idle_due_ = now + kTablesPause;
  callers_.connections.ForEach(
      [now](DownstreamConnection& connection) { connection.IdleFor(now); });
}

void MemoryRelief::AddIdle(std::vector<MemoryHolder>& holders) {
  const Instant now = io_.loop.now();
  callers_.accepted.ForEach([&](AcceptedConnection& connection) {
    const ConnectionOrigin& origin = connection.origin();
    holders.push_back({.bytes = IdleBytes(origin),
                       .connection = &origin,
                       .sender = origin.sender,
                       .idle = now - origin.accepted_at,
                       .victim = &connection});
  });
  callers_.connections.ForEach([&](DownstreamConnection& connection) {
    if (connection.session().stream_count() > 0) return;
    const ConnectionOrigin& origin = connection.origin();
    holders.push_back({.bytes = IdleBytes(origin),
                       .connection = &origin,
                       .sender = origin.sender,
                       .idle = connection.IdleFor(now),
                       .victim = &connection});
  });
}

std::vector<MemoryHolder> MemoryRelief::Measure(bool with_idle) {
  std::vector<MemoryHolder> holders;
  const auto add = [&](const ConnectionOrigin& origin, size_t bytes, MemoryHolder::Victim victim) {
    holders.push_back({.bytes = bytes,
                       .connection = &origin,
                       .sender = origin.sender,
                       .idle = std::nullopt,
                       .victim = victim});
  };
  callers_.calls.ForEach(
      [&](RpcStream& call) { add(call.origin(), kCallBytes + call.held_bytes(), &call); });
  callers_.tunnels.ForEach([&](RawTunnel& tunnel) {
    add(tunnel.origin(), kTunnelBytes + tunnel.held_bytes(), &tunnel);
  });
  callers_.connections.ForEach([&](DownstreamConnection& connection) {
    connection.session().ForEachDetached([&](h2::Stream& stream) {
      add(connection.origin(), sizeof(h2::Stream) + stream.held_bytes(), &stream);
    });
  });
  if (with_idle) AddIdle(holders);
  SortByWhoGivesFirst(holders, [this](size_t bytes, size_t connections) {
    return account_.Much(bytes, connections);
  });
  absl::flat_hash_set<const void*> of_much;
  for (const MemoryHolder& holder : holders) {
    if (holder.reason == MemoryHolder::Reason::kOfMuch) of_much.insert(holder.connection);
  }
  callers_.connections.ForEach([&](DownstreamConnection& connection) {
    connection.SetHoldsMuch(of_much.contains(&connection.origin()));
  });
  return holders;
}

void MemoryRelief::EndLargest(int64_t bytes, int64_t bytes_of_all) {
  using Reason = MemoryHolder::Reason;
  const Instant now = io_.loop.now();
  const bool due = now >= callers_due_;
  if (due) callers_due_ = now + kCallersPause;
  for (const MemoryHolder& holder : Measure(/*with_idle=*/due)) {
    const bool at_fault =
        holder.reason == Reason::kOfMuch || (due && holder.reason != Reason::kAny);
    if ((at_fault ? bytes : bytes_of_all) <= 0) return;
    ended_connections_ = ended_connections_ || holder.reason == Reason::kIdle;
    bytes -= static_cast<int64_t>(holder.bytes);
    bytes_of_all -= static_cast<int64_t>(holder.bytes);
    io_.series.limit_hits[Limit::kMemory].Add();
    std::visit(EndHolder(), holder.victim);
  }
}

}  // namespace levee
