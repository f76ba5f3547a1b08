// SPDX-License-Identifier: Apache-2.0
// The key of one rate limit for one call: a list of names and values.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/container/inlined_vector.h"

namespace levee {

// A list of (name, value) entries, in the order in which they were added. A limit without key has
// the empty list.
//
// The list is kept as a text from which it can be read again, so that this is the only place where
// the entries of a key are joined: bucket tables go by the text, and a rate limit service gets the
// entries as its descriptor. Keys of usual length need no allocation.
class LimitKey {
 public:
  struct Entry {
    std::string_view name;
    std::string_view value;

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  // Neither text may be longer than 2^32 - 1 bytes. Any byte is allowed.
  void Add(std::string_view name, std::string_view value);

  // Views into this key, valid until it is changed, moved or destroyed.
  absl::InlinedVector<Entry, 2> entries() const { return EntriesOf(text()); }

  // Two keys have the same text only if they have the same entries in the same order. The format is
  // for use within one process. Valid as long as the views of entries().
  std::string_view text() const { return {text_.data(), text_.size()}; }

  // Returns the entries of the key that has this text; views into it.
  static absl::InlinedVector<Entry, 2> EntriesOf(std::string_view text);

 private:
  static constexpr size_t kInlineBytes = 64;

  // For each entry: the two lengths, the name, the value.
  absl::InlinedVector<char, kInlineBytes> text_;
};

}  // namespace levee
