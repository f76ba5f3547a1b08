// SPDX-License-Identifier: Apache-2.0
// The rules of RFC 9113, sections 8.2 and 8.3, for the fields of a message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hpack/decoder.h"
#include "wire/metadata.h"

namespace levee::h2 {

enum class BlockKind { kRequest, kResponse, kTrailers, kIgnored };

// Collects the fields of one header block and checks them. Begin makes it ready for the next block.
class HeaderRules final : public hpack::FieldSink {
 public:
  // Which bound a block exceeds.
  enum class Excess { kNone, kBytes, kFields };

  // Keeps at most `max_fields` fields of metadata (all but HTTP's and gRPC's own), and at most
  // `max_bytes` of all fields, counted as RFC 9113, section 6.5.2 does.
  HeaderRules(size_t max_fields, size_t max_bytes)
      : max_fields_(max_fields), max_bytes_(max_bytes) {}

  // Starts a block. Its fields go to `fields`; if that is nullptr, they are dropped and not
  // checked.
  void Begin(BlockKind kind, Metadata* fields);

  void OnField(const hpack::DecodedField& field) override;

  // After the block's last field: nullptr, or static text that says why the message is malformed.
  const char* Fault() const;

  // Which bound the block exceeds, so that some of its fields were not kept.
  Excess excess() const { return excess_; }

  // The value of content-length; -1 without one.
  int64_t content_length() const { return content_length_; }

  // The value of :status, 100 to 999, if it is well-formed.
  int status() const { return status_; }

 private:
  void Judge(const hpack::DecodedField& field);
  void JudgePseudo(const hpack::DecodedField& field);
  void Malformed(const char* why) {
    if (fault_ == nullptr) fault_ = why;
  }
  bool Seen(hpack::FieldKind kind) const { return (seen_ >> static_cast<int>(kind) & 1) != 0; }

  const size_t max_fields_;
  const size_t max_bytes_;
  BlockKind kind_ = BlockKind::kIgnored;
  Metadata* fields_ = nullptr;
  const char* fault_ = nullptr;
  uint32_t seen_ = 0;  // a bit for each FieldKind
  bool regular_seen_ = false;
  bool connect_ = false;  // :method CONNECT
  bool host_seen_ = false;
  Excess excess_ = Excess::kNone;
  size_t metadata_fields_ = 0;
  int64_t content_length_ = -1;
  int status_ = 0;
};

}  // namespace levee::h2
