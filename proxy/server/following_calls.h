// SPDX-License-Identifier: Apache-2.0
// The calls that end when the caller of the call that they follow has gone.
#pragma once

#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "guard/tie_table.h"

namespace levee {

class RpcStream;

// One worker's, by trace. All calls of a worker may be of one trace, so no function but Of looks at
// more than a few. One thread.
class FollowingCalls {
 public:
  void Add(TraceNumber trace, RpcStream& call) { calls_.emplace(trace, &call); }

  // Does nothing if the call was not added.
  void Remove(TraceNumber trace, RpcStream& call) { calls_.erase({trace, &call}); }

  // Returns a copy, since calls that are told to end remove themselves.
  std::vector<RpcStream*> Of(TraceNumber trace) const {
    std::vector<RpcStream*> calls;
    for (auto at = calls_.lower_bound({trace, nullptr}); at != calls_.end() && at->first == trace;
         ++at) {
      calls.push_back(at->second);
    }
    return calls;
  }

 private:
  absl::btree_set<std::pair<TraceNumber, RpcStream*>> calls_;
};

}  // namespace levee
