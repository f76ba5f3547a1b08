// SPDX-License-Identifier: Apache-2.0
// One key of a table. For the sources of DedupeTable only.
#pragma once

#include <memory>

#include "absl/hash/hash.h"
#include "base/intrusive_list.h"
#include "base/sha256.h"
#include "dedupe/dedupe_table.h"
#include "dedupe/key_shares.h"

namespace levee {

struct DedupeEntry : ListLink<DedupeEntry>, ListLink<KeyAge>, InBlocks {
  // It says who deals with the key here.
  enum class Here {
    kRuns,  // a call of this sidecar has the key
    kAsks,  // the shared store is asked for it
    kNone,
  };

  explicit DedupeEntry(const Sha256& hash) : key(hash) {}

  const Sha256 key;
  KeyStake stake;
  Here here = Here::kRuns;
  bool unknown = false;       // in memory: its call has ended, and may run in the application
  bool seen = false;          // somebody else's claim was seen: `claim`
  absl::Duration look_after;  // how long to wait before the next look at the shared store
  KeyClaim claim;             // without end while a call of this sidecar runs
  Instant renewed;            // kRuns: the claim counts from then on
  IntrusiveList<DedupePlace> waiting;
};

inline size_t DedupeTable::ByKey::operator()(const Sha256& key) const { return absl::HashOf(key); }
inline size_t DedupeTable::ByKey::operator()(const std::unique_ptr<DedupeEntry>& entry) const {
  return absl::HashOf(entry->key);
}
inline bool DedupeTable::SameKey::operator()(const std::unique_ptr<DedupeEntry>& a,
                                             const std::unique_ptr<DedupeEntry>& b) const {
  return a->key == b->key;
}
inline bool DedupeTable::SameKey::operator()(const std::unique_ptr<DedupeEntry>& a,
                                             const Sha256& b) const {
  return a->key == b;
}

}  // namespace levee
