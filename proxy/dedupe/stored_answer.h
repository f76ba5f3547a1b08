// SPDX-License-Identifier: Apache-2.0
// The answer of a call that had an idempotency key, kept for the calls that repeat it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "wire/metadata.h"
#include "wire/status.h"

namespace levee {

// Immutable once it is shared; then any thread.
struct StoredAnswer {
  struct Field {
    std::string name;
    std::string value;
    bool never_index = false;
  };
  using Fields = std::vector<Field>;

  static Fields Copy(const Metadata& fields) {
    Fields copy;
    copy.reserve(fields.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      const Metadata::Field field = fields[i];
      copy.push_back({std::string(field.name), std::string(field.value), field.never_index});
    }
    return copy;
  }

  static void Append(const Fields& fields, Metadata& to) {
    for (const Field& field : fields) to.Add(field.name, field.value, field.never_index);
  }

  // The memory that it takes, about.
  size_t bytes() const { return sizeof *this + BytesOf(head) + body.size() + BytesOf(trailers); }

  StatusCode code = StatusCode::kUnknown;
  // False: only `code` is kept, since the answer was too long or had several messages.
  bool whole = false;
  Fields head;       // empty if the answer is trailers-only
  std::string body;  // at most one message, with its prefix
  Fields trailers;   // all fields if it is trailers-only

 private:
  static size_t BytesOf(const Fields& fields) {
    size_t bytes = fields.capacity() * sizeof(Field);
    for (const Field& field : fields) bytes += field.name.size() + field.value.size();
    return bytes;
  }
};

using StoredAnswerPtr = std::shared_ptr<const StoredAnswer>;

}  // namespace levee
