// SPDX-License-Identifier: Apache-2.0
// Carries out what tables of keys ask of a shared store, on whatever lets it speak to the store:
// repeats what must not be lost, renews claims, and lets calls that wait look again.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "dedupe/dedupe_table.h"
#include "dedupe/key_store.h"

namespace levee {

// Speaks to the stores. The interface inverts a dependency: the network lies above dedupe/.
class KeyWire {
 public:
  // As those of RedisClient: without a reply DeadlineExceeded or Unavailable, when the command may
  // have been carried out; FailedPrecondition or ResourceExhausted if it surely was not.
  using Done = absl::AnyInvocable<void(const absl::StatusOr<KeyReply>& reply, Instant now)>;

  // Sends a command that is not kLook, and that stays until `done` is called: once, maybe at once.
  virtual void Send(const KeyCommand& command, Done done) = 0;

 protected:
  ~KeyWire() = default;
};

// One thread, that of the wire.
class KeyKeeper {
 public:
  // How often claims are looked at that may have to be renewed. The shortest claim is a second.
  static constexpr absl::Duration kRenewEvery = absl::Milliseconds(200);

  // A command that must not be lost is repeated after this.
  static constexpr absl::Duration kRepeatAfter = absl::Milliseconds(100);

  explicit KeyKeeper(KeyWire& wire) : wire_(wire) {}
  KeyKeeper(const KeyKeeper&) = delete;
  KeyKeeper& operator=(const KeyKeeper&) = delete;

  void Take(KeyCommand command, Instant now);

  // Does what is due. To be called at NextTimer, or later.
  void OnTimer(Instant now);
  Instant NextTimer() const;

 private:
  using CommandPtr = std::unique_ptr<KeyCommand>;

  void Send(CommandPtr command);
  void OnReply(CommandPtr command, const absl::StatusOr<KeyReply>& reply, Instant now);
  void Know(const std::weak_ptr<DedupeTable>& table, Instant now);
  void Renew(Instant now);

  KeyWire& wire_;
  std::multimap<Instant, CommandPtr> later_;
  std::vector<std::weak_ptr<DedupeTable>> tables_;
  Instant renew_at_ = Instant::Infinite();
};

}  // namespace levee
