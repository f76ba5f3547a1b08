// SPDX-License-Identifier: Apache-2.0
// One key of a table. For the sources of DedupeTable only.
#pragma once

#include <string>
#include <utility>

#include "base/intrusive_list.h"
#include "dedupe/dedupe_table.h"

namespace levee {

struct DedupeTable::Entry : ListLink<Entry> {
  // It says who deals with the key here.
  enum class Here {
    kRuns,  // a call of this sidecar has the key
    kAsks,  // the shared store is asked for it
    kNone,
  };

  explicit Entry(std::string text) : key(std::move(text)) {}

  const std::string key;
  Here here = Here::kRuns;
  bool seen = false;          // somebody else's claim was seen: `claim`
  absl::Duration look_after;  // how long to wait before the next look at the shared store
  KeyClaim claim;             // without end while a call of this sidecar runs
  Instant renewed;            // kRuns: the claim counts from then on
  IntrusiveList<DedupePlace> waiting;
};

}  // namespace levee
