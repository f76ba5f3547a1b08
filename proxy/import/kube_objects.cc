// SPDX-License-Identifier: Apache-2.0
#include "import/kube_objects.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/addresses.h"

namespace levee::importer {
namespace {

// Bounds lists within lists; an alias to its own list has more.
constexpr int kMaxListDepth = 8;

class Reader {
 public:
  Reader(Source& source, const std::vector<KubeKind>& wanted, Notes& notes)
      : source_(source), wanted_(wanted), notes_(notes) {}

  void Read(const Item& item, int depth);
  std::vector<KubeObject> Take() { return std::move(objects_); }

 private:
  void ReadObject(Section object, int depth);
  void Add(Section object, std::string group, std::string kind);

  Source& source_;
  const std::vector<KubeKind>& wanted_;
  Notes& notes_;
  std::vector<KubeObject> objects_;
};

void Reader::Read(const Item& item, int depth) {
  if (depth > kMaxListDepth) {
    source_.Refuse(item.place, "is nested too deeply");
    return;
  }
  if (item.node.IsSequence()) {
    for (const Item& element : source_.AsList(item)) Read(element, depth + 1);
    return;
  }
  std::optional<Section> object = source_.AsSection(item);
  if (object.has_value()) ReadObject(*std::move(object), depth);
}

void Reader::ReadObject(Section object, int depth) {
  const std::string kind = object.Text("kind").value_or("");
  if (kind.ends_with("List") && object.Has("items")) {
    Read(*object.Get("items"), depth + 1);
    return;
  }
  const std::string version = object.Text("apiVersion").value_or("");
  if (kind.empty()) object.Refuse("kind", "must be given: this is no object of Kubernetes");
  if (version.empty()) object.Refuse("apiVersion", "must be given");
  if (kind.empty() || version.empty()) return;
  const size_t slash = version.find('/');
  Add(std::move(object), slash == std::string::npos ? "" : version.substr(0, slash), kind);
}

void Reader::Add(Section object, std::string group, std::string kind) {
  KubeObject read;
  read.place = object.place();
  read.group = std::move(group);
  read.kind = std::move(kind);
  std::optional<Section> metadata = object.Map("metadata");
  if (metadata.has_value()) {
    read.name = ReadObjectName(*metadata, "name", false);
    read.ns = ReadObjectName(*metadata, "namespace", false);
    read.annotations = metadata->Map("annotations");
  }
  if (read.ns.empty()) read.ns = "default";
  const bool known = std::any_of(wanted_.begin(), wanted_.end(), [&read](const KubeKind& wanted) {
    return wanted.group == read.group && wanted.kind == read.kind;
  });
  if (!known) {
    notes_.push_back(absl::StrCat("Not read: ", read.Label(), " (",
                                  read.group.empty() ? "core" : read.group, ")."));
    return;
  }
  if (read.name.empty()) {
    if (!metadata.has_value() || !metadata->Has("name")) {
      object.Refuse("metadata", "must have a name");
    }
    return;
  }
  read.spec = object.Map("spec");
  object.Ignore({"status"});
  read.NoteUnread(object, notes_);
  objects_.push_back(std::move(read));
}

}  // namespace

std::string KubeObject::Label() const {
  return absl::StrCat(kind, " ", ns, "/", name, ", line ", place.line);
}

void KubeObject::NoteUnread(Section& section, Notes& notes) const {
  const std::string unread = section.Unread();
  if (!unread.empty()) notes.push_back(absl::StrCat(Label(), ": ", unread));
}

std::vector<KubeObject> ReadKubeObjects(Source& source, const std::vector<ConfigText>& texts,
                                        const std::vector<KubeKind>& wanted, Notes& notes) {
  Reader reader(source, wanted, notes);
  for (const ConfigText& text : texts) {
    for (const Item& item : source.ParseDocuments(text)) reader.Read(item, 0);
  }
  std::vector<KubeObject> objects = reader.Take();
  if (objects.empty() && !source.faulty()) {
    source.Refuse({source.files().front(), 0, 0, ""},
                  absl::StrCat("has nothing to import; wanted: ",
                               absl::StrJoin(wanted, ", ", [](std::string* out, const KubeKind& k) {
                                 absl::StrAppend(out, k.kind);
                               })));
  }
  return objects;
}

std::string ReadObjectName(Section& section, std::string_view key, bool required) {
  const std::optional<std::string> name = section.Text(key);
  if (!name.has_value() && !required) return "";
  if (name.has_value() && IsHostName(*name)) return *name;
  section.Refuse(key, name.has_value() ? absl::StrCat(Quoted(*name), " is no name")
                                       : std::string("must be given"));
  return "";
}

int64_t ReadPort(Section& section, std::string_view key, bool required) {
  constexpr int64_t kHighestPort = 65535;
  const std::optional<int64_t> port = section.Whole(key);
  if (required && !port.has_value()) section.Refuse(key, "must be given");
  if (port.has_value() && (*port < 1 || *port > kHighestPort)) {
    section.Refuse(key, "must be from 1 to 65535");
  }
  return port.value_or(0);
}

}  // namespace levee::importer
