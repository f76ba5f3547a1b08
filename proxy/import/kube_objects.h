// SPDX-License-Identifier: Apache-2.0
// Reads objects of a Kubernetes API: files with several documents, and lists as kubectl prints
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/load.h"
#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// A kind of objects. Its version does not matter.
struct KubeKind {
  std::string group;  // "gateway.networking.k8s.io"; empty: the core group
  std::string kind;
};

struct KubeObject {
  std::string group;
  std::string kind;
  std::string ns;  // "default" if the object names none
  std::string name;
  std::optional<Section> annotations;
  std::optional<Section> spec;
  Place place;

  // Returns how comments call it: "GRPCRoute shop/cart, line 3".
  std::string Label() const;

  // Adds a note that says which parts were not read, and how the object is called.
  void NoteUnread(Section& section, Notes& notes) const;
};

// Returns the objects of the kinds `wanted` in the order of the texts. An object of another kind
// gets a note. It is a fault if an object has no kind or no name, and if there is none that is
// wanted.
std::vector<KubeObject> ReadKubeObjects(Source& source, const std::vector<ConfigText>& texts,
                                        const std::vector<KubeKind>& wanted, Notes& notes);

// Each returns the value of `key`, or "" with a fault if that is no such name. It is a fault, too,
// if it is `required` and absent. An object's name has up to 253 characters; that of a Service or
// of a namespace is a label of up to 63; a host is a name of DNS.
std::string ReadObjectName(Section& section, std::string_view key, bool required);
std::string ReadLabel(Section& section, std::string_view key, bool required);
std::string ReadHostName(Section& section, std::string_view key, bool required);

// Returns the port that is the value of `key`; 0 if absent, which is a fault if it is `required`.
int64_t ReadPort(Section& section, std::string_view key, bool required);

struct ObjectName {
  std::string ns;
  std::string name;

  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

// A port of a Service. Without a namespace `name` is another host.
struct ServicePort {
  std::string ns;
  std::string name;
  int64_t port = 0;

  std::string Host() const { return ns.empty() ? name : name + "." + ns; }
  friend auto operator<=>(const ServicePort&, const ServicePort&) = default;
};

}  // namespace levee::importer
