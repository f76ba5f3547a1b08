// SPDX-License-Identifier: Apache-2.0
#include "config/merge.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "config/schema.h"

namespace levee {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

class Merger {
 public:
  Merger(const Positions& from, Positions& to) : from_(from), to_(to) {}

  void MergeMessage(const std::string& path, const Message& later, Message& base);

  const std::optional<ReplacedEntry>& first_replaced() const { return first_replaced_; }

 private:
  void MergeNamed(const std::string& path, const FieldDescriptor& list, const Message& later,
                  Message& base);
  void Replace(const std::string& path, const FieldDescriptor& field, const Message& later,
               Message& base);

  const Positions& from_;
  Positions& to_;
  std::optional<ReplacedEntry> first_replaced_;
};

void Merger::MergeMessage(const std::string& path, const Message& later, Message& base) {
  const google::protobuf::Descriptor& type = *later.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string at = path.empty() ? field.name() : absl::StrCat(path, ".", field.name());
    if (!from_.Has(at)) continue;
    const Reflection& reflection = *later.GetReflection();
    if (NameOf(field) != nullptr) {
      MergeNamed(at, field, later, base);
    } else if (field.is_repeated() || field.message_type() == nullptr || from_.Broken(at) ||
               !reflection.HasField(later, &field)) {  // A message that is `none`.
      Replace(at, field, later, base);
    } else {
      to_.Set(at, from_.Find(at));
      MergeMessage(at, reflection.GetMessage(later, &field),
                   *reflection.MutableMessage(&base, &field));
    }
  }
}

void Merger::MergeNamed(const std::string& path, const FieldDescriptor& list, const Message& later,
                        Message& base) {
  const Reflection& reflection = *later.GetReflection();
  const auto name = [&list](const Message& entry) {
    return entry.GetReflection()->GetString(entry, NameOf(list));
  };
  std::map<std::string, int> replaceable;  // entries of earlier files
  for (int i = 0; i < reflection.FieldSize(base, &list); ++i) {
    replaceable.emplace(name(reflection.GetRepeatedMessage(base, &list, i)), i);
  }
  to_.Set(path, from_.Find(path));
  if (from_.Broken(path)) to_.MarkBroken(path);
  for (int i = 0; i < reflection.FieldSize(later, &list); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(later, &list, i);
    int target = reflection.FieldSize(base, &list);
    if (const auto replaced = replaceable.extract(name(entry)); !replaced.empty()) {
      target = replaced.mapped();
    } else {
      reflection.AddMessage(&base, &list);
    }
    reflection.MutableRepeatedMessage(&base, &list, target)->CopyFrom(entry);
    const std::string from = absl::StrCat(path, "[", i, "]");
    const std::string to = absl::StrCat(path, "[", target, "]");
    if (to_.Has(to) && !first_replaced_.has_value()) {
      first_replaced_ = {.earlier = to_.Find(to), .later = from_.Find(from)};
    }
    to_.Erase(to);
    to_.Adopt(from_, from, to);
  }
}

void Merger::Replace(const std::string& path, const FieldDescriptor& field, const Message& later,
                     Message& base) {
  // Swapping whole fields works for every type; the copy keeps `later` as it is.
  const std::unique_ptr<Message> copy(later.New());
  copy->CopyFrom(later);
  base.GetReflection()->SwapFields(&base, copy.get(), {&field});
  to_.Erase(path);
  to_.Adopt(from_, path, path);
}

}  // namespace

std::optional<ReplacedEntry> Merge(const ReadConfig& later, ReadConfig& base) {
  Merger merger(later.positions, base.positions);
  merger.MergeMessage("", later.config, base.config);
  return merger.first_replaced();
}

}  // namespace levee
