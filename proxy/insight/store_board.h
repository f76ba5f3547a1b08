// SPDX-License-Identifier: Apache-2.0
// The stores and rate limit services of a sidecar as they are now.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"

namespace levee {

struct StoreView {
  enum class Kind {
    kSingle,     // one server
    kCluster,    // nodes that share the keys
    kSentinels,  // the primary that sentinels name
    kService,    // a rate limit service
  };
  struct Node {
    std::string address;
    bool ready = false;
    std::string failure;  // why it is not
  };

  std::string name;  // as in metrics: of a service its address
  Kind kind = Kind::kSingle;
  bool connected = false;   // requests can be sent, for every key
  Instant since;            // of `connected`
  std::string failure;      // why not
  std::vector<Node> nodes;  // to which there are connections, or are to be
};

constexpr std::string_view StoreKindName(StoreView::Kind kind) {
  switch (kind) {
    case StoreView::Kind::kSingle:
      return "single";
    case StoreView::Kind::kCluster:
      return "cluster";
    case StoreView::Kind::kSentinels:
      return "sentinels";
    case StoreView::Kind::kService:
      break;
  }
  return "service";
}

// The clients of stores write here, and people read. Any thread.
class StoreBoard {
 public:
  // Replaces what was written of this name.
  void Put(StoreView view);

  void Remove(const std::string& name);

  // Ordered by name.
  std::vector<StoreView> Read() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, StoreView> views_;
};

}  // namespace levee
