// SPDX-License-Identifier: Apache-2.0
// Which sentinel to ask for the primary, when, and what its answer means.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "base/server_address.h"
#include "store/redis_protocol.h"

namespace levee {

// Decides without I/O and clock. The primary is asked for at the start, whenever it is lost or says
// that it is none, and now and then, since one that was cut off from the others answers on. One
// question is under way at a time.
class PrimarySearch {
 public:
  // Between questions that lead to no primary. Sentinels that do not answer do not delay the
  // question to the next one.
  static constexpr absl::Duration kFirstDelay = absl::Milliseconds(50);
  static constexpr absl::Duration kLongestDelay = absl::Seconds(1);

  // Between questions while the primary is there, on average.
  static constexpr absl::Duration kAgainAfter = absl::Seconds(10);

  // `master`: the name of the primary. `sentinels`: how many there are, at least one. `random`
  // outlives it.
  PrimarySearch(std::string master, size_t sentinels, Random& random);

  // Returns when to ask sentinel() next; Infinite while a question is under way.
  Instant NextQuestion() const { return asking_ ? Instant::Infinite() : next_question_; }
  size_t sentinel() const { return sentinel_; }
  void OnAsked() { asking_ = true; }

  // Takes the reply of sentinel() to SENTINEL GET-MASTER-ADDR-BY-NAME, or why there is none.
  // Returns the server that is the primary from now on, if it is another one than before.
  std::optional<ServerAddress> OnAnswer(const absl::StatusOr<RedisReply>& reply, Instant now);

  // The connection to the primary: it is there and says that it is the primary, or it is lost, was
  // not made, or says that it is none.
  void OnReady(Instant now);
  void OnLost(Instant now);

  // Why no primary is known: what was wrong with the last answer. Empty: nothing.
  const std::string& trouble() const { return trouble_; }

 private:
  std::optional<ServerAddress> Missed(std::string trouble, Instant now);
  absl::Duration NextDelay();
  void AskNext() { sentinel_ = (sentinel_ + 1) % sentinels_; }

  const std::string master_;
  const size_t sentinels_;
  Random& random_;
  size_t sentinel_ = 0;
  bool asking_ = false;
  Instant next_question_;
  std::optional<ServerAddress> primary_;
  bool ready_ = false;
  size_t misses_ = 0;  // answers without an address, in a row
  int delays_ = 0;     // since the primary was there
  std::string trouble_ = "the sentinels have not answered yet";
};

}  // namespace levee
