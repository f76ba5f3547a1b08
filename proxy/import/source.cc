// SPDX-License-Identifier: Apache-2.0
#include "import/source.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "config/suggest.h"

namespace levee::importer {
namespace {

// The most values of one text. Aliases count each time they are used: nested aliases must not grow
// beyond the memory.
constexpr int kMaxValues = 1'000'000;

std::string Describe(const YAML::Node& node) {
  if (node.IsNull()) return "null";
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  return Quoted(node.Scalar());
}

// retryPolicy becomes retry_policy. Keys that are not field names ("@type", a filter's name) stay.
std::string SnakeCase(const std::string& key) {
  const bool field = std::all_of(key.begin(), key.end(), absl::ascii_isalnum);
  if (!field) return key;
  std::string snake;
  for (const char c : key) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c))) snake += '_';
    snake += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return snake;
}

// Returns a key as a part of a path: quoted unless it is a plain word.
std::string Shown(const std::string& key) {
  const bool plain = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '@' || c == '.';
  });
  return plain && !key.empty() ? key : Quoted(key);
}

Place At(const std::string& file, const YAML::Mark& mark, std::string path) {
  return {file, mark.line + 1, mark.column + 1, std::move(path)};
}

// Protobuf's JSON form knows seconds only; gRFC A6 itself writes ".1s".
bool ParseSeconds(const std::string& text, absl::Duration& duration) {
  const std::string digits = text.empty() ? "" : text.substr(0, text.size() - 1);
  return text.ends_with('s') && digits.find_first_not_of("0123456789.") == std::string::npos &&
         absl::ParseDuration(text, &duration);
}

// One to four whole numbers of at most five digits, each with its unit.
bool ParseGep2257(std::string_view text, absl::Duration& duration) {
  duration = absl::ZeroDuration();
  for (int parts = 0; !text.empty(); ++parts) {
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (parts == 4 || digits == 0 || digits > 5) return false;
    size_t unit = text.substr(digits).starts_with("ms") ? 2 : 1;
    if (digits == text.size() || text.find_first_of("hms", digits) != digits) return false;
    absl::Duration part;
    if (!absl::ParseDuration(std::string(text.substr(0, digits + unit)), &part)) return false;
    duration += part;
    text.remove_prefix(digits + unit);
  }
  return true;
}

bool ParseGo(const std::string& text, absl::Duration& duration) {
  return absl::ParseDuration(text, &duration) && duration >= absl::ZeroDuration() &&
         duration < absl::InfiniteDuration();
}

}  // namespace

std::string Section::ShortPath() const {
  constexpr size_t kParts = 4;
  std::vector<std::string> parts = absl::StrSplit(place_.path, '.');
  if (parts.size() > kParts) parts.erase(parts.begin(), parts.end() - kParts);
  return place_.path.empty() ? "the file" : absl::StrJoin(parts, ".");
}

std::vector<std::string> Section::Left() const {
  std::vector<std::string> left;
  for (const Entry& entry : entries_) {
    if (!asked_.contains(KeyFor(entry.key)) && !entry.value.IsNull()) left.push_back(entry.key);
  }
  return left;
}

std::string Section::KeyFor(std::string_view key) const {
  return source_->keys_ == Keys::kAnyCase ? absl::AsciiStrToLower(Abseil(key)) : std::string(key);
}

const Section::Entry* Section::Find(std::string_view key) const {
  const auto found = index_.find(KeyFor(key));
  return found == index_.end() ? nullptr : &entries_[found->second];
}

bool Section::Has(std::string_view key) const {
  const Entry* entry = Find(key);
  return entry != nullptr && !entry->value.IsNull();
}

std::string Section::Written(std::string_view key) const {
  const Entry* entry = Find(key);
  return entry == nullptr ? "" : entry->key;
}

std::optional<Item> Section::Get(std::string_view key) {
  asked_.emplace(KeyFor(key), key);
  if (!Has(key)) return std::nullopt;
  const Entry& entry = *Find(key);
  return Item{entry.value, entry.place};
}

template <typename Value>
Value Section::Read(std::string_view key, Value (Source::*as)(const Item&)) {
  const std::optional<Item> item = Get(key);
  if (!item.has_value()) return {};
  const int refused = source_->refused();
  Value value = (source_->*as)(*item);
  if (source_->refused() != refused) wrong_.emplace(key);
  return value;
}

std::optional<std::string> Section::Text(std::string_view key) {
  return Read(key, &Source::AsText);
}

std::optional<double> Section::Number(std::string_view key) { return Read(key, &Source::AsNumber); }

std::optional<int64_t> Section::Whole(std::string_view key) { return Read(key, &Source::AsWhole); }

std::optional<bool> Section::Flag(std::string_view key) {
  const std::optional<std::string> text = Text(key);
  if (!text.has_value()) return std::nullopt;
  if (*text == "true" || *text == "false") return *text == "true";
  Refuse(key, absl::StrCat(Quoted(*text), " is not true or false"));
  return std::nullopt;
}

std::optional<absl::Duration> Section::Duration(std::string_view key) {
  return Read(key, &Source::AsDuration);
}

std::optional<Section> Section::Map(std::string_view key) { return Read(key, &Source::AsSection); }

std::vector<Item> Section::List(std::string_view key) { return Read(key, &Source::AsList); }

std::vector<Section> Section::Maps(std::string_view key) {
  std::vector<Section> sections;
  for (const Item& item : List(key)) {
    std::optional<Section> section = source_->AsSection(item);
    if (section.has_value()) sections.push_back(*std::move(section));
  }
  return sections;
}

std::vector<std::string> Section::Texts(std::string_view key) {
  std::vector<std::string> texts;
  for (const Item& item : List(key)) {
    std::optional<std::string> text = source_->AsText(item);
    if (text.has_value()) texts.push_back(*std::move(text));
  }
  return texts;
}

void Section::Refuse(std::string_view key, std::string text) const {
  if (wrong_.contains(key)) return;
  const Entry* entry = Find(key);
  if (entry != nullptr) {
    source_->Refuse(entry->place, std::move(text));
    return;
  }
  Place place = place_;
  absl::StrAppend(&place.path, place.path.empty() ? "" : ".", std::string(key));
  source_->Refuse(place, std::move(text));
}

void Section::Ignore(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) asked_.emplace(KeyFor(key), key);
}

std::string Section::Unread() const {
  std::vector<std::string> unread;
  std::vector<std::string> known;  // without the keys that the text has as well
  for (const auto& [key, asked] : asked_) {
    if (Find(key) == nullptr) known.push_back(asked);
  }
  for (const std::string& key : Left()) {
    const std::string hint = Suggestion(key, known, "");
    const bool near = hint.starts_with("; did you mean ");
    unread.push_back(near ? absl::StrCat(Shown(key), " (", hint.substr(2), ")") : Shown(key));
  }
  if (unread.empty()) return "";
  return absl::StrCat("Not read in ", ShortPath(), ": ", absl::StrJoin(unread, ", "), ".");
}

std::string Section::Meaning() const {
  std::map<std::string, std::string> fields;
  for (const Entry& entry : entries_) {
    if (entry.key != "@type") fields[entry.key] = source_->MeaningOf(entry.value, place_);
  }
  std::string meaning = "{";
  for (const auto& [key, value] : fields) absl::StrAppend(&meaning, key.size(), ":", key, value);
  return meaning + "}";
}

std::string Source::MeaningOf(const YAML::Node& node, const Place& place) {
  if (!Count(place)) return "";
  if (node.IsMap()) {
    const std::optional<Section> section = AsSection({node, place});
    return section.has_value() ? section->Meaning() : "";
  }
  if (!node.IsSequence())
    return node.IsScalar() ? absl::StrCat(node.Scalar().size(), ":", node.Scalar()) : "~";
  std::string meaning = "[";
  for (const YAML::Node& element : node) absl::StrAppend(&meaning, MeaningOf(element, place), ",");
  return meaning + "]";
}

bool Source::Count(const Place& place) {
  if (++values_ == kMaxValues + 1) {
    Refuse(place, absl::StrCat("more than ", kMaxValues, " values, aliases included"));
  }
  return values_ <= kMaxValues;
}

std::optional<Item> Source::Parse(const ConfigText& text, TextFormat format) {
  files_.push_back(text.name);
  YAML::Node root;
  if (!ParseYamlDocument(text.name, text.text, kMaxValues, root, faults_, format)) {
    return std::nullopt;
  }
  if (root.IsNull()) {
    Refuse({text.name, 0, 0, ""}, "is empty");
    return std::nullopt;
  }
  return Item{root, At(text.name, root.Mark(), "")};
}

std::vector<Item> Source::ParseDocuments(const ConfigText& text) {
  files_.push_back(text.name);
  std::vector<YAML::Node> roots;
  std::vector<Item> items;
  if (!ParseYamlDocuments(text.name, text.text, kMaxValues, roots, faults_)) return items;
  for (const YAML::Node& root : roots) {
    if (!root.IsNull()) items.push_back({root, At(text.name, root.Mark(), "")});
  }
  if (items.empty()) Refuse({text.name, 0, 0, ""}, "is empty");
  return items;
}

std::optional<Section> Source::AsSection(const Item& item) {
  if (!item.node.IsMap()) {
    Refuse(item.place, absl::StrCat("is ", Describe(item.node), "; write a mapping"));
    return std::nullopt;
  }
  Section section(*this, item.place);
  for (const auto& entry : item.node) {
    if (!Count(item.place)) return std::nullopt;
    if (!entry.first.IsScalar()) {
      Refuse(At(item.place.file, entry.first.Mark(), item.place.path), "a key is not a word");
      continue;
    }
    const std::string& written = entry.first.Scalar();
    const YAML::Mark mark = entry.second.IsScalar() ? entry.second.Mark() : entry.first.Mark();
    Place place =
        At(item.place.file, mark,
           absl::StrCat(item.place.path, item.place.path.empty() ? "" : ".", Shown(written)));
    std::string key = keys_ == Keys::kSnakeCase ? SnakeCase(written) : written;
    if (!section.index_.emplace(section.KeyFor(key), section.entries_.size()).second) {
      Refuse(place, "is given twice");
      continue;
    }
    section.entries_.push_back({std::move(key), entry.second, std::move(place)});
  }
  return section;
}

std::optional<std::string> Source::AsText(const Item& item) {
  if (item.node.IsScalar()) return item.node.Scalar();
  Refuse(item.place, absl::StrCat("is ", Describe(item.node), "; write a single value"));
  return std::nullopt;
}

// A number in quotes is one too, as in protobuf's JSON form.
std::optional<double> Source::AsNumber(const Item& item) {
  const std::optional<std::string> text = AsText(item);
  if (!text.has_value()) return std::nullopt;
  double number;
  if (absl::SimpleAtod(*text, &number) && std::isfinite(number)) return number;
  Refuse(item.place, absl::StrCat(Quoted(*text), " is not a number"));
  return std::nullopt;
}

std::optional<int64_t> Source::AsWhole(const Item& item) {
  constexpr double kExact = 9007199254740992;  // 2^53: whole numbers up to here are exact
  const std::optional<std::string> text = AsText(item);
  if (!text.has_value()) return std::nullopt;
  int64_t whole;
  if (absl::SimpleAtoi(*text, &whole)) return whole;
  double number;  // 5.0 and 1e3 are whole numbers of JSON
  if (absl::SimpleAtod(*text, &number) && std::abs(number) <= kExact &&
      number == std::trunc(number)) {
    return static_cast<int64_t>(number);
  }
  Refuse(item.place, absl::StrCat(Quoted(*text), " is not a whole number"));
  return std::nullopt;
}

std::optional<absl::Duration> Source::AsDuration(const Item& item) {
  const std::optional<std::string> text = AsText(item);
  if (!text.has_value()) return std::nullopt;
  absl::Duration duration;
  const char* form = "";
  bool good = false;
  switch (durations_) {
    case Durations::kSeconds:
      good = ParseSeconds(*text, duration);
      form = "they are seconds, as in 0.25s";
      break;
    case Durations::kGep2257:
      good = !text->empty() && ParseGep2257(*text, duration);
      form = "they are whole numbers of h, m, s and ms, as in 1m30s (GEP-2257)";
      break;
    case Durations::kGo:
      good = ParseGo(*text, duration);
      form = "they have a unit, as in 2.5s or 1m30s";
      break;
  }
  if (good) return duration;
  Refuse(item.place, absl::StrCat(Quoted(*text), " is not a duration; ", form));
  return std::nullopt;
}

std::vector<Item> Source::AsList(const Item& item) {
  std::vector<Item> items;
  if (!item.node.IsSequence()) {
    Refuse(item.place, absl::StrCat("is ", Describe(item.node), "; write a list"));
    return items;
  }
  for (const YAML::Node& element : item.node) {
    if (!Count(item.place)) return {};
    items.push_back(
        {element, At(item.place.file, element.IsNull() ? item.node.Mark() : element.Mark(),
                     absl::StrCat(item.place.path, "[", items.size(), "]"))});
  }
  return items;
}

std::string FileOf(const std::vector<ConfigText>& texts) {
  return texts.size() == 1 ? texts.front().name : "-";
}

}  // namespace levee::importer
