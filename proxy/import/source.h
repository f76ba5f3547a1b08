// SPDX-License-Identifier: Apache-2.0
// Reads the text of an import, JSON or YAML: the places for faults, and the keys not used.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "config/fault.h"
#include "config/load.h"
#include "config/yaml_document.h"
#include "yaml-cpp/yaml.h"

namespace levee::importer {

// A value of the text and its place.
struct Item {
  YAML::Node node;
  Place place;
};

// How keys are compared. Protobuf's JSON form has camelCase, files written by hand have snake_case;
// kSnakeCase accepts both, and callers ask for snake_case. Go reads keys in upper and lower case
// alike, and so does kAnyCase.
enum class Keys { kAsWritten, kSnakeCase, kAnyCase };

// How durations are written: as in protobuf's JSON form ("0.25s"), as in Kubernetes (GEP-2257:
// "1h30m", "500ms"), or as in Go ("1.5s", "1h30m").
enum class Durations { kSeconds, kGep2257, kGo };

class Source;

// Returns the name of the text, "-" if there are several.
std::string FileOf(const std::vector<ConfigText>& texts);

// One mapping of the text. It remembers which of its keys were asked for, so that the others can be
// reported. A null counts as no value, as in protobuf's JSON form. A value of the wrong type is a
// fault and counts as no value. A copy remembers on its own from then on.
class Section {
 public:
  const Place& place() const { return place_; }

  // Returns the end of the place's path, for comments: many places have the same beginning.
  std::string ShortPath() const;

  // Whether `key` has a value. This does not count as asking for it.
  bool Has(std::string_view key) const;

  // Returns the key as it is written in the text, where `key` may be in another case; empty if it
  // is not there.
  std::string Written(std::string_view key) const;

  std::optional<Item> Get(std::string_view key);
  std::optional<std::string> Text(std::string_view key);
  std::optional<double> Number(std::string_view key);  // finite
  std::optional<int64_t> Whole(std::string_view key);
  std::optional<bool> Flag(std::string_view key);
  std::optional<absl::Duration> Duration(std::string_view key);  // never negative
  std::optional<Section> Map(std::string_view key);
  std::vector<Item> List(std::string_view key);
  std::vector<Section> Maps(std::string_view key);  // a list of mappings
  std::vector<std::string> Texts(std::string_view key);

  // Reports a fault of the value of `key`, or of its absence, unless the value's wrong type was
  // reported.
  void Refuse(std::string_view key, std::string text) const;

  // Keys that have a value and were not asked for, in the order of the text.
  std::vector<std::string> Left() const;

  // Returns a text that is the same for sections that say the same, whatever the order of their
  // keys, and only for these. Types (@type) do not count.
  std::string Meaning() const;

  // Treats keys as asked for that say nothing about policies.
  void Ignore(const std::vector<std::string>& keys);

  // Returns every key that was not asked for, as a sentence: "Not read in methodConfig[0]: a, b.";
  // empty if there is none. A key that nearly equals one that was asked for is reported as a
  // probable mistake.
  std::string Unread() const;

  Source& source() const { return *source_; }

 private:
  friend class Source;
  struct Entry {
    std::string key;
    YAML::Node value;
    Place place;
  };

  Section(Source& source, Place place) : source_(&source), place_(std::move(place)) {}
  // Returns the text by which keys are equal.
  std::string KeyFor(std::string_view key) const;
  const Entry* Find(std::string_view key) const;
  template <typename Value>
  Value Read(std::string_view key, Value (Source::*as)(const Item&));

  Source* source_;
  Place place_;
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;       // into entries_, by KeyFor
  std::map<std::string, std::string> asked_;  // KeyFor and the key as it was asked for
  std::set<std::string, std::less<>> wrong_;  // of the wrong type
};

// Texts and their faults. Must outlive the sections that it hands out.
//
// The YAML parser reads JSON too. So there is one reader for both formats, and unlike protobuf's
// JsonStringToMessage it knows the place of each value, keeps the order of keys and sees keys that
// are given twice. It reads JSON right or not at all: JSON that it cannot read (escaped surrogate
// pairs, keys above 1 KiB) is an error and never gets another meaning.
class Source {
 public:
  explicit Source(Keys keys, Durations durations = Durations::kSeconds)
      : keys_(keys), durations_(durations) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const std::vector<std::string>& files() const { return files_; }

  // Both may be called for several texts, of which each has a name of its own.

  // Reads the whole text as one value; nullopt, with a fault, if it has none. `format`: see
  // ParseYamlDocument.
  std::optional<Item> Parse(const ConfigText& text, TextFormat format = TextFormat::kYaml);

  // Reads all documents of a text, without those that are empty.
  std::vector<Item> ParseDocuments(const ConfigText& text);

  void Refuse(const Place& place, std::string text) {
    faults_.Add(place, CheckCode::kNone, std::move(text));
    ++refused_;
  }
  int refused() const { return refused_; }
  bool faulty() const { return !faults_.empty(); }
  std::vector<Fault> Faults() const { return faults_.Sorted(files_); }

  // Each returns nullopt, with a fault, if the item is something else.
  std::optional<Section> AsSection(const Item& item);
  std::optional<std::string> AsText(const Item& item);
  std::optional<int64_t> AsWhole(const Item& item);
  std::optional<double> AsNumber(const Item& item);
  std::optional<absl::Duration> AsDuration(const Item& item);
  std::vector<Item> AsList(const Item& item);

 private:
  friend class Section;
  bool Count(const Place& place);
  std::string MeaningOf(const YAML::Node& node, const Place& place);

  std::vector<std::string> files_;
  const Keys keys_;
  const Durations durations_;
  FaultList faults_;
  int refused_ = 0;
  int values_ = 0;
};

}  // namespace levee::importer
