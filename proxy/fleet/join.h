// SPDX-License-Identifier: Apache-2.0
// Which application an upstream is.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace levee::fleet {

// Upstreams, and the applications that they are by the word of the reader.
using Joins = std::map<std::string, std::string>;

// Returns the application, of `applications`, that `caller` calls by the upstream; empty if none or
// several may be meant. An upstream is the application that `joins` gives. Otherwise both are names
// of DNS, of which the shorter must be the beginning of the longer, label by label: cart is
// cart.shop, and cart.shop:50051 is cart. A port, and dns: before a name, do not count. Of several
// that fit, it is the one with the most labels in common, and then the one in the namespace of
// `caller` (CALLER.NAMESPACE).
std::string ApplicationOf(const std::string& upstream, const std::string& caller,
                          const std::vector<std::string>& applications, const Joins& joins);

}  // namespace levee::fleet
