// SPDX-License-Identifier: Apache-2.0
// Tells the protocol of a caller's connection by its first bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace levee {

// RFC 9113, section 3.4.
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum class Http2Begins {
  kMore,  // too few bytes to tell
  kYes,
  kNo,
};
// Whether bytes are those with which a client begins: the whole preface.
Http2Begins BeginsPreface(std::string_view bytes);

// Whether bytes are those with which a server begins: the head of a SETTINGS frame that every
// client takes (RFC 9113, section 3.4).
Http2Begins BeginsSettings(std::string_view bytes);

enum class FirstBytes {
  kMore,     // too few to tell
  kHttp2,    // the whole preface
  kConnect,  // "CONNECT "
  kOther,
};
FirstBytes ClassifyFirstBytes(std::string_view bytes);

// Whether bytes that are kOther begin a TLS handshake (RFC 8446, section 5.1).
bool BeginsTls(std::string_view bytes);

// An HTTP/1 request with the method CONNECT (RFC 9110, section 9.3.6).
struct ConnectRequest {
  enum class State {
    kMore,  // its head is not complete
    kGood,
    kBad,  // not a request that a proxy can follow: answer 400
  };
  State state = State::kMore;
  std::string destination;  // kGood: HOST:PORT, IPv6 literals in brackets
  size_t size = 0;          // kGood: of the head; what follows belongs to the tunnel
};
// Longer heads are bad.
inline constexpr size_t kMaxConnectHead = 8 * 1024;

// Reads `bytes`, which kConnect classifies. Fields of the head are passed over: none changes where
// the tunnel goes.
ConnectRequest ParseConnectRequest(std::string_view bytes);

}  // namespace levee
