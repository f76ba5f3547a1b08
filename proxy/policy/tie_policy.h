// SPDX-License-Identifier: Apache-2.0
// What the calls that the application makes have from the call that it makes them for (`tie`).
#pragma once

namespace levee {

struct TiePolicy {
  bool mark = true;       // a call that fails says "overloaded" as the call made for it did
  bool priority = true;   // the call that is made has the priority of the other one
  bool deadline = false;  // and no more time than it
  bool cancel = false;    // and ends when its caller has gone
  int max_traces = 10'000;

  friend bool operator==(const TiePolicy&, const TiePolicy&) = default;
};

}  // namespace levee
