// SPDX-License-Identifier: Apache-2.0
// One key of a table. For the sources of DedupeTable only.
#pragma once

#include <string_view>

#include "base/block_string.h"
#include "base/intrusive_list.h"
#include "dedupe/dedupe_table.h"

namespace levee {

struct DedupeEntry : ListLink<DedupeEntry>, InBlocks {
  // It says who deals with the key here.
  enum class Here {
    kRuns,  // a call of this sidecar has the key
    kAsks,  // the shared store is asked for it
    kNone,
  };

  explicit DedupeEntry(std::string_view text) : key(text) {}

  const BlockString key;
  Here here = Here::kRuns;
  bool seen = false;          // somebody else's claim was seen: `claim`
  absl::Duration look_after;  // how long to wait before the next look at the shared store
  KeyClaim claim;             // without end while a call of this sidecar runs
  Instant renewed;            // kRuns: the claim counts from then on
  IntrusiveList<DedupePlace> waiting;
};

}  // namespace levee
