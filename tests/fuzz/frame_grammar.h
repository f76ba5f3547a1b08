// SPDX-License-Identifier: Apache-2.0
// HTTP/2 frames out of a fuzzer's bytes: mostly well-formed ones, so that inputs get deep.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fuzz/byte_source.h"

namespace levee {

struct HeaderField {
  std::string_view name;
  std::string_view value;
};

// The fields that the header blocks of one side are made of.
struct FrameWords {
  std::span<const HeaderField> head;    // makes a complete head
  std::span<const HeaderField> fields;  // any of these may follow, or replace it
};
extern const FrameWords kRequestWords;
extern const FrameWords kResponseWords;

// The beginning of a client's side of a connection, before its SETTINGS.
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// A frame with this payload (RFC 9113, section 4.1).
std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload);
inline std::string EmptySettings() { return Frame(4, 0, 0, ""); }

// The next frame that the source describes, or bytes that are none.
std::string NextFrame(ByteSource& source, const FrameWords& words);

// How many HEADERS frames a side of a connection has sent.
class HeadersCounter {
 public:
  // `preface`: the side is a client's, which begins with kPreface.
  explicit HeadersCounter(bool preface) : skip_(preface ? kPreface.size() : 0) {}

  void Receive(std::string_view bytes);
  int count() const { return count_; }

 private:
  size_t skip_;  // bytes before the next frame's head
  std::string head_;
  int count_ = 0;
};

}  // namespace levee
