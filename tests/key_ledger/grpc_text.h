// SPDX-License-Identifier: Apache-2.0
// What both ends of the ledger of keys need of gRPC on the wire.
#pragma once

#include <string>
#include <string_view>

namespace levee::ledger {

// A message with its prefix; shorter than 64 KiB.
inline std::string Framed(std::string_view message) {
  std::string framed(3, '\0');
  framed.push_back(static_cast<char>(message.size() >> 8));
  framed.push_back(static_cast<char>(message.size()));
  return framed.append(message);
}

}  // namespace levee::ledger
