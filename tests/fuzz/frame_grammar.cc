// SPDX-License-Identifier: Apache-2.0
#include "fuzz/frame_grammar.h"

#include <algorithm>
#include <array>

namespace levee {
namespace {

constexpr size_t kFrameHead = 9;

// RFC 9113, section 6.
constexpr uint8_t kData = 0;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kPriority = 2;
constexpr uint8_t kReset = 3;
constexpr uint8_t kSettings = 4;
constexpr uint8_t kPing = 6;
constexpr uint8_t kGoaway = 7;
constexpr uint8_t kWindowUpdate = 8;
constexpr uint8_t kContinuation = 9;
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kEndHeaders = 4;

constexpr std::array kRequestHead = {
    HeaderField{":method", "POST"},      HeaderField{":scheme", "http"},
    HeaderField{":path", "/shop.C/Get"}, HeaderField{":authority", "shop:1"},
    HeaderField{"te", "trailers"},       HeaderField{"content-type", "application/grpc"},
};
constexpr std::array kRequestFields = {
    HeaderField{"grpc-timeout", "50m"},
    HeaderField{"grpc-timeout", "99999999H"},
    HeaderField{"grpc-timeout", "0n"},
    HeaderField{"grpc-previous-rpc-attempts", "1"},
    HeaderField{"levee-overload", "service"},
    HeaderField{"idempotency-key", "k"},
    HeaderField{"x-tenant", "a"},
    HeaderField{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
    HeaderField{"host", "other:1"},
    HeaderField{"connection", "close"},
    HeaderField{"content-length", "5"},
    HeaderField{"content-type", "text/plain"},
    HeaderField{":path", "/shop.C/Put"},
    HeaderField{":authority", "nowhere:1"},
    HeaderField{":method", "GET"},
    HeaderField{":method", "CONNECT"},
    HeaderField{"expect", "100-continue"},
    HeaderField{"X-Upper", "1"},
};
constexpr std::array kResponseHead = {
    HeaderField{":status", "200"},
    HeaderField{"content-type", "application/grpc"},
};
constexpr std::array kResponseFields = {
    HeaderField{"grpc-status", "0"},
    HeaderField{"grpc-status", "14"},
    HeaderField{"grpc-status", "8"},
    HeaderField{"grpc-status", "-1"},
    HeaderField{"grpc-message", "full%20%"},
    HeaderField{"grpc-retry-pushback-ms", "0"},
    HeaderField{"grpc-retry-pushback-ms", "30"},
    HeaderField{"grpc-retry-pushback-ms", "-1"},
    HeaderField{"retry-after", "1"},
    HeaderField{"retry-after", "Fri, 31 Dec 1999 23:59:59 GMT"},
    HeaderField{"levee-overload", "service"},
    HeaderField{"levee-overload", "endpoint;hops=2;reason=budget"},
    HeaderField{"grpc-status-details-bin", "CAgSBGZ1bGw"},
    HeaderField{"x-envoy-overloaded", "true"},
    HeaderField{":status", "100"},
    HeaderField{":status", "503"},
    HeaderField{":status", "429"},
    HeaderField{"content-type", "text/html"},
    HeaderField{"content-length", "5"},
    HeaderField{"transfer-encoding", "chunked"},
};

std::string Number(uint32_t number, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    text += static_cast<char>(number >> shift);
  }
  return text;
}

// RFC 7541, sections 5.2 and 6.2: a literal, with a new name. Shorter than 127 bytes each.
std::string Literal(const HeaderField& field, uint8_t representation) {
  std::string literal(1, static_cast<char>(representation));
  for (const std::string_view text : {field.name, field.value}) {
    const std::string_view cut = text.substr(0, 126);
    literal += static_cast<char>(cut.size());
    literal += cut;
  }
  return literal;
}

// With indexing, without, and never.
uint8_t Representation(ByteSource& source) {
  constexpr std::array<uint8_t, 4> kKinds = {0x00, 0x40, 0x10, 0x00};
  return kKinds[source.Below(kKinds.size())];
}

std::string Block(ByteSource& source, const FrameWords& words) {
  std::string block;
  const uint8_t shape = source.Byte();
  if ((shape & 0xc0) != 0xc0) {
    for (const HeaderField& field : words.head) block += Literal(field, 0);
  }
  for (int i = shape & 7; i > 0; --i) {
    const uint64_t kind = source.Below(words.fields.size() + 4);
    if (kind < words.fields.size()) {
      block += Literal(words.fields[kind], Representation(source));
    } else if (kind == words.fields.size()) {
      block += source.Take(source.Below(16));  // Indexed fields, size updates, Huffman codes.
    } else if (kind == words.fields.size() + 1) {
      block += Literal({"x-long", std::string(126, 'x')}, Representation(source));
    } else {
      const std::string name = source.Take(source.Below(12));
      block += Literal({name, source.Take(source.Below(24))}, Representation(source));
    }
  }
  return block;
}

// Few streams, so that frames meet; now and then one of the other side or the connection.
uint32_t StreamId(ByteSource& source) {
  const uint8_t byte = source.Byte();
  if (byte >= 0xf8) return byte & 3;
  return 1 + 2 * (byte & 7u);
}

std::string Message(ByteSource& source) {
  switch (source.Below(3)) {
    case 0: {
      const std::string text = source.Take(source.Below(16));
      return '\0' + Number(static_cast<uint32_t>(text.size()), 4) + text;
    }
    case 1:
      return std::string(source.Below(20'000), 'x');
    default:
      return source.Take(source.Below(32));
  }
}

}  // namespace

const FrameWords kRequestWords = {kRequestHead, kRequestFields};
const FrameWords kResponseWords = {kResponseHead, kResponseFields};

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  return Number(static_cast<uint32_t>(payload.size()), 3) + static_cast<char>(type) +
         static_cast<char>(flags) + Number(stream, 4) + std::string(payload);
}

std::string NextFrame(ByteSource& source, const FrameWords& words) {
  const uint64_t kind = source.Below(16);
  const uint8_t flags = source.Byte();
  const uint32_t stream = StreamId(source);
  switch (kind) {
    case 0:
    case 1:
    case 2:  // A whole header block, which may end the stream.
      return Frame(kHeaders, kEndHeaders | (flags & kEndStream), stream, Block(source, words));
    case 3:
      return Frame(kHeaders, flags, stream, Block(source, words));
    case 4:
    case 5:
      return Frame(kData, flags & kEndStream, stream, Message(source));
    case 6:
      return Frame(kData, flags, stream, Message(source));
    case 7:
      return Frame(kPriority, 0, stream, source.Take(5));
    case 8:
      return Frame(kReset, 0, stream, Number(flags & 15u, 4));
    case 9:
      return Frame(kSettings, 0, 0, Number(flags & 7u, 2) + source.Take(4));
    case 10:
      return Frame(kPing, flags & 1, 0, "12345678");
    case 11:
      return Frame(kGoaway, 0, 0, Number(stream, 4) + Number(flags, 4));
    case 12:
      return Frame(kWindowUpdate, 0, stream,
                   Number(static_cast<uint32_t>(source.Below(1u << 31)), 4));
    case 13:
      return Frame(kContinuation, flags, stream, Block(source, words));
    case 14:  // PUSH_PROMISE, or a type that nobody knows.
      return Frame(flags | 5, flags, stream, source.Take(source.Below(32)));
    default:
      return source.Take(source.Below(64));
  }
}

void HeadersCounter::Receive(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t skipped = std::min(skip_, bytes.size());
    skip_ -= skipped;
    bytes.remove_prefix(skipped);
    const size_t taken = std::min(kFrameHead - head_.size(), bytes.size());
    head_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (head_.size() < kFrameHead) return;
    for (size_t i = 0; i < 3; ++i) skip_ = skip_ << 8 | static_cast<uint8_t>(head_[i]);
    if (head_[3] == kHeaders) ++count_;
    head_.clear();
  }
}

}  // namespace levee
