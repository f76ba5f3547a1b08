// SPDX-License-Identifier: Apache-2.0
// What callers' sidecars said of late about their retries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "wire/retry_report.h"

namespace levee {

// The last report of each connection, for ten seconds. Bounded: beyond kMaxConnections the oldest
// report goes. One thread at a time, whose `now` does not go back.
class ReportedRetries {
 public:
  static constexpr size_t kMaxConnections = 10'000;

  void Add(uint64_t connection, const RetryReport& report, Instant now) {
    if (const auto found = places_.find(connection); found != places_.end()) Forget(found->second);
    if (places_.size() == kMaxConnections) Forget(reports_.begin());
    total_ += report;
    places_[connection] =
        reports_.insert(reports_.end(), {.connection = connection, .at = now, .report = report});
  }

  // Returns all of them together.
  const RetryReport& Total(Instant now) {
    constexpr absl::Duration kKept = absl::Seconds(10);
    while (!reports_.empty() && reports_.front().at + kKept <= now) Forget(reports_.begin());
    return total_;
  }

 private:
  struct Entry {
    uint64_t connection;
    Instant at;
    RetryReport report;
  };
  using Place = std::list<Entry>::iterator;

  void Forget(Place place) {
    total_ -= place->report;
    places_.erase(place->connection);
    reports_.erase(place);
  }

  std::list<Entry> reports_;  // the oldest first
  absl::flat_hash_map<uint64_t, Place> places_;
  RetryReport total_;
};

}  // namespace levee
