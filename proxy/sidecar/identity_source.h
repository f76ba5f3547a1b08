// SPDX-License-Identifier: Apache-2.0
// Where the certificates that no file holds come from.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tls/svid.h"

namespace levee {

// Follows Workload APIs. The interface inverts a dependency: they are asked by the gRPC library, in
// a layer above, so that this layer is free of it. cli/ hands the object in. Any thread, but one
// call of Keep at a time.
class IdentitySource {
 public:
  virtual ~IdentitySource() = default;

  // As tls::SvidSource. An API that is asked for the first time is followed from now on, and this
  // waits a moment for its first answer.
  virtual std::shared_ptr<const tls::Svid> Get(const std::string& socket) = 0;

  // `changed` is called whenever an API has given something new, in a thread of the source, and
  // once from here, for what came before.
  virtual void OnChange(std::function<void()> changed) = 0;

  // Returns, by socket, why an API gives nothing newer; without those with which nothing is wrong.
  virtual std::map<std::string, std::string> Faults() = 0;

  // Follows these APIs alone from now on.
  virtual void Keep(const std::vector<std::string>& sockets) = 0;

  // Follows none any more. Then `changed` is not called again.
  virtual void Stop() = 0;
};

}  // namespace levee
