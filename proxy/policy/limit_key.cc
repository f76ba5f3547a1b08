// SPDX-License-Identifier: Apache-2.0
#include "policy/limit_key.h"

#include <cstdint>
#include <cstring>

namespace levee {
namespace {

struct Lengths {
  uint32_t name;
  uint32_t value;
};

}  // namespace

void LimitKey::Add(std::string_view name, std::string_view value) {
  const Lengths lengths = {static_cast<uint32_t>(name.size()), static_cast<uint32_t>(value.size())};
  const size_t at = text_.size();
  text_.resize(at + sizeof(lengths) + name.size() + value.size());
  char* to = text_.data() + at;
  std::memcpy(to, &lengths, sizeof(lengths));
  to += sizeof(lengths);
  if (!name.empty()) std::memcpy(to, name.data(), name.size());
  if (!value.empty()) std::memcpy(to + name.size(), value.data(), value.size());
}

absl::InlinedVector<LimitKey::Entry, 2> LimitKey::EntriesOf(std::string_view text) {
  absl::InlinedVector<Entry, 2> entries;
  for (std::string_view rest = text; !rest.empty();) {
    Lengths lengths;
    std::memcpy(&lengths, rest.data(), sizeof(lengths));
    rest.remove_prefix(sizeof(lengths));
    entries.push_back({rest.substr(0, lengths.name), rest.substr(lengths.name, lengths.value)});
    rest.remove_prefix(size_t{lengths.name} + lengths.value);
  }
  return entries;
}

}  // namespace levee
