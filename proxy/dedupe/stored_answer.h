// SPDX-License-Identifier: Apache-2.0
// The answer of a call that had an idempotency key, kept for the calls that repeat it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/block_string.h"
#include "wire/metadata.h"
#include "wire/status.h"

namespace levee {

class StoredAnswer;
using StoredAnswerPtr = std::shared_ptr<const StoredAnswer>;

// One text, which is also what a shared store keeps, so that an answer is copied once. Immutable;
// any thread.
class StoredAnswer {
 public:
  // `text`: of AnswerWriter, or one that Read would take.
  explicit StoredAnswer(BlockString text) : text_(std::move(text)) {}

  // Of an answer that was too long, or had several messages: only its status is kept.
  static StoredAnswerPtr OfStatus(StatusCode code);

  // Returns the answer that has this text; nullptr if none has.
  static StoredAnswerPtr Read(std::string_view text);

  StatusCode code() const { return static_cast<StatusCode>(text_[kCode]); }
  // False: only the status is kept.
  bool whole() const { return text_[kWhole] != 0; }
  // Whether all fields are trailers, as no head came.
  bool trailers_only() const;
  // At most one message, with its prefix.
  std::string_view body() const;
  void AppendHead(Metadata& to) const;
  void AppendTrailers(Metadata& to) const;

  std::string_view text() const { return text_; }

  // The memory that it takes, as StoredAnswerPtr holds it.
  size_t bytes() const;

 private:
  friend class AnswerWriter;
  static constexpr size_t kCode = 1, kWhole = 2;  // where they stand

  const BlockString text_;
};

// Writes the text of an answer, in the order of the wire.
class AnswerWriter {
 public:
  AnswerWriter();

  // At most once, before the body.
  void AddHead(const Metadata& head);
  void AddBody(std::string_view bytes);

  // Bytes of the text so far.
  size_t size() const { return text_.size(); }

  // The answer ends with `trailers`. To be called once, last.
  StoredAnswerPtr End(StatusCode code, const Metadata& trailers);

 private:
  BlockString text_;
  size_t body_at_ = 0;  // where the length of the body stands; 0: no head yet
};

}  // namespace levee
