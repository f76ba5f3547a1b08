// SPDX-License-Identifier: Apache-2.0
#include "import/kube_objects.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
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
  const bool known = std::any_of(wanted_.begin(), wanted_.end(), [&read](const KubeKind& wanted) {
    return wanted.group == read.group && wanted.kind == read.kind;
  });
  std::optional<Section> metadata = object.Map("metadata");
  if (metadata.has_value()) {
    // Other kinds may have names of other forms, as "system:node".
    read.name =
        known ? ReadObjectName(*metadata, "name", false) : metadata->Text("name").value_or("");
    read.ns =
        known ? ReadLabel(*metadata, "namespace", false) : metadata->Text("namespace").value_or("");
    read.annotations = metadata->Map("annotations");
  }
  if (read.ns.empty()) read.ns = "default";
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

// Whether a name is made of labels between dots. Their length is not bounded: only the name of a
// Service, which is a label, is looked up by DNS.
bool HasLabels(const std::string& name) {
  for (const absl::string_view label : absl::StrSplit(name, '.')) {
    const bool form = std::all_of(label.begin(), label.end(), [](unsigned char c) {
      return absl::ascii_isalnum(c) || c == '-' || c == '_';
    });
    if (label.empty() || !form || label.front() == '-' || label.back() == '-') return false;
  }
  return true;
}

std::string ReadName(Section& section, std::string_view key, bool required,
                     const std::function<bool(const std::string&)>& is_name) {
  const std::optional<std::string> name = section.Text(key);
  if (!name.has_value() && !required) return "";
  if (name.has_value() && is_name(*name)) return *name;
  section.Refuse(key, name.has_value() ? absl::StrCat(Quoted(*name), " is not a name")
                                       : std::string("must be given"));
  return "";
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
  constexpr size_t kMaxObjectName = 253;
  return ReadName(section, key, required, [](const std::string& name) {
    return name.size() <= kMaxObjectName && HasLabels(name);
  });
}

std::string ReadLabel(Section& section, std::string_view key, bool required) {
  constexpr size_t kMaxLabel = 63;
  return ReadName(section, key, required, [](const std::string& name) {
    return name.size() <= kMaxLabel && HasLabels(name) && !absl::StrContains(name, '.');
  });
}

std::string ReadHostName(Section& section, std::string_view key, bool required) {
  return ReadName(section, key, required, IsHostName);
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
