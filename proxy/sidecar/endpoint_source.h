// SPDX-License-Identifier: Apache-2.0
// Where the endpoints of upstreams come from.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "settings/upstream_spec.h"

namespace levee {

// Tells which endpoints upstreams have, and tells it again when they change.
//
// An interface because it inverts a layer: a source that asks a server for the endpoints needs the
// gRPC library or an HTTP client, which this layer must not know. ConfiguredEndpoints is the source
// of those that the configuration lists.
class EndpointSource {
 public:
  // From now on `endpoints` are all endpoints of `upstream`. There may be none of them, but the
  // pointer is not nullptr. The function only hands them on; it does not wait for a worker.
  using Tell = std::function<void(const std::string& upstream,
                                  const std::shared_ptr<const EndpointList>& endpoints)>;

  // Called once. The source calls `tell` in any thread, but not for one upstream in two threads at
  // a time; it may do so within Start. An upstream has no endpoint until the source tells of one,
  // and calls to it fail. The workers forget the endpoints of an upstream that a reload takes away.
  virtual void Start(Tell tell) = 0;

 protected:
  ~EndpointSource() = default;
};

}  // namespace levee
