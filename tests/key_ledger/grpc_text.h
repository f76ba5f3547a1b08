// SPDX-License-Identifier: Apache-2.0
// What both ends of the ledger of keys need of gRPC on the wire.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace levee::ledger {

// Its bytes are followed by a zero.
inline std::string_view TextOf(nghttp2_rcbuf* buffer) {
  const nghttp2_vec text = nghttp2_rcbuf_get_buf(buffer);
  return {reinterpret_cast<const char*>(text.base), text.len};
}

// A message with its prefix; shorter than 64 KiB.
inline std::string Framed(std::string_view message) {
  std::string framed(3, '\0');
  framed.push_back(static_cast<char>(message.size() >> 8));
  framed.push_back(static_cast<char>(message.size()));
  return framed.append(message);
}

}  // namespace levee::ledger
