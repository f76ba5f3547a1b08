// SPDX-License-Identifier: Apache-2.0
// The rules of RFC 9113, sections 8.2 and 8.3, for the fields of a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hpack/decoder.h"
#include "wire/metadata.h"

namespace levee::h2 {

enum class BlockKind { kRequest, kResponse, kTrailers, kIgnored };

// Collects the fields of one header block and checks them. Begin makes it ready for the next block.
// Nothing more of a block is judged or kept once it is malformed, exceeds a bound, or is ignored;
// then only the sizes of its fields are added up, so that they have a bound as well. To judge one
// field costs the same whatever its size, but for a request's one host.
class HeaderRules final : public hpack::FieldSink {
 public:
  // Which bound a block exceeds.
  enum class Excess { kNone, kBytes, kFields };

  // Keeps at most `max_fields` fields of metadata (all but HTTP's and gRPC's own), and at most
  // `max_bytes` of all fields, counted as RFC 9113, section 6.5.2 does. `max_dropped_bytes`: the
  // largest size of those that are not kept, counted likewise.
  HeaderRules(size_t max_fields, size_t max_bytes, size_t max_dropped_bytes)
      : max_fields_(max_fields), max_bytes_(max_bytes), max_dropped_bytes_(max_dropped_bytes) {}

  // Starts a block. Its fields go to `fields`; if that is nullptr, they are dropped and not
  // checked.
  void Begin(BlockKind kind, Metadata* fields);

  // Keeps the facts that the fields of a block have shown so far. The same fields always show the
  // same.
  struct Shown {
    uint32_t kinds = 0;  // a bit for each FieldKind
    bool regular = false;
    bool connect = false;   // :method CONNECT
    bool options = false;   // :method OPTIONS
    bool asterisk = false;  // :path *
    bool host = false;
    int status = 0;
    int64_t content_length = -1;
    size_t metadata_fields = 0;
  };

  // Returns the facts of the block that began last; nullptr if the block is malformed, exceeds a
  // bound, or is ignored.
  const Shown* shown() const { return dropping_ ? nullptr : &shown_; }

  // Goes on behind a block's beginning, right after Begin. Its fields are `fields`, and they have
  // shown `shown`.
  void Resume(const Metadata& fields, const Shown& shown) {
    fields_->AddFrom(fields, 0, fields.size());
    shown_ = shown;
  }

  // False: more than `max_dropped_bytes` were dropped.
  bool OnField(const hpack::DecodedField& field) override;

  // Whether OnField has returned false for this block.
  bool too_long() const { return dropped_bytes_ > max_dropped_bytes_; }

  // After the block's last field: nullptr, or static text that says why the message is malformed. A
  // block that exceeds a bound counts as well-formed if what came before the bound is.
  const char* Fault() const;

  // Which bound the block exceeds, so that some of its fields were not kept.
  Excess excess() const { return excess_; }

  // The value of content-length; -1 without one, or if the block exceeds a bound before it.
  int64_t content_length() const { return shown_.content_length; }

  // The value of :status, 100 to 999, if it is well-formed.
  int status() const { return shown_.status; }

 private:
  void Judge(const hpack::DecodedField& field);
  void JudgePseudo(const hpack::DecodedField& field);
  void JudgeHost(std::string_view host);
  bool Drop(const hpack::DecodedField& field) {
    dropped_bytes_ += field.name.size() + field.value.size() + 32;
    return !too_long();
  }
  void Malformed(const char* why) {
    if (fault_ == nullptr) fault_ = why;
    dropping_ = true;
  }
  bool Exceed(Excess excess) {
    excess_ = excess;
    dropping_ = true;
    return true;
  }
  bool Seen(hpack::FieldKind kind) const {
    return (shown_.kinds >> static_cast<int>(kind) & 1) != 0;
  }

  const size_t max_fields_;
  const size_t max_bytes_;
  const size_t max_dropped_bytes_;
  BlockKind kind_ = BlockKind::kIgnored;
  Metadata* fields_ = nullptr;
  const char* fault_ = nullptr;
  bool dropping_ = true;  // nobody gets the fields that are still to come
  Excess excess_ = Excess::kNone;
  size_t dropped_bytes_ = 0;
  Shown shown_;
};

}  // namespace levee::h2
