// SPDX-License-Identifier: Apache-2.0
// What is known of the methods of all upstreams, shared by the workers.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "policy/method_kind.h"
#include "settings/snapshot.h"

namespace levee {

// The kind of the method of one plan.
struct PlannedKind {
  std::shared_ptr<MethodKind> method;
  bool settled = false;  // it is listed, or never will be
  // The object that `method` was until it was listed, to which calls may still refer.
  std::shared_ptr<MethodKind> before;
};

// A method is listed once the service has answered a call of it, so that paths which callers make
// up take no place. Any thread; locks, so workers ask once per plan.
class MethodKinds {
 public:
  // An upstream has at most so many listed methods. Further ones are not learnt, so an upstream
  // that fills its list takes no place from others.
  static constexpr size_t kMaxMethods = 1000;
  static constexpr size_t kMaxPath = 257;  // a longer one is not listed: as the labels of metrics

  // Returns what is known of the method, by the upstream's descriptors or from calls.
  PlannedKind Plan(const UpstreamSpec& upstream, std::string_view path);

  // Lists the plan's method if its kind has been learnt. From then on the plan has the object that
  // all later calls share. Returns false if there is no place for it.
  bool List(const std::string& upstream, std::string_view path, PlannedKind& plan);

  // Forgets the methods of upstreams that the configuration does not have.
  void Keep(const Snapshot& snapshot);

 private:
  using Methods = std::map<std::string, std::shared_ptr<MethodKind>, std::less<>>;  // by path

  std::mutex mutex_;
  std::map<std::string, Methods> upstreams_;
};

}  // namespace levee
