// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_document.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/utf8.h"

namespace levee {
namespace {

constexpr int kMaxOfStream = 1'000'000;

// A text has more values than it may.
struct TooManyValues {
  YAML::Mark mark;
};

// Listens to the start of documents, and counts the values in lists and mappings. An entry of a
// mapping is one, with its key.
class Counter : public YAML::EventHandler {
 public:
  // Throws TooManyValues at the first value above `most`.
  explicit Counter(int most) : left_(2 * int64_t{most}) {}

  const YAML::Mark& mark() const { return mark_; }

  void OnDocumentStart(const YAML::Mark& mark) override { mark_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { Count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Count(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    Count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Begin(mark, 2);
  }
  void OnSequenceEnd() override { weights_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Begin(mark, 1);
  }
  void OnMapEnd() override { weights_.pop_back(); }

 private:
  void Count(const YAML::Mark& mark) {
    if (!weights_.empty()) left_ -= weights_.back();
    if (left_ < 0) throw TooManyValues{mark};
  }
  void Begin(const YAML::Mark& mark, int weight) {
    Count(mark);
    weights_.push_back(weight);
  }

  int64_t left_;              // halves of values
  std::vector<int> weights_;  // in halves, of what stands in each open collection
  YAML::Mark mark_;
};

Place At(const std::string& file, const YAML::Mark& mark) {
  return mark.line < 0 ? Place{file, 0, 0, ""} : Place{file, mark.line + 1, mark.column + 1, ""};
}

// Returns the column, from 0, of the tab that indents the line with `error`; npos if none is to
// blame. Within braces and brackets a tab may begin a line: there the error stays without it.
size_t IndentingTab(const std::string& text, const YAML::Exception& error) {
  if (error.mark.line < 0) return std::string::npos;
  size_t begin = 0;
  for (int line = 0; line < error.mark.line; ++line) begin = text.find('\n', begin) + 1;
  const size_t end = std::min(text.find_first_not_of(" \t", begin), text.size());
  const size_t tab = text.find('\t', begin);
  if (tab >= end) return std::string::npos;
  std::string spaced = text;
  std::replace(spaced.begin() + static_cast<std::ptrdiff_t>(begin),
               spaced.begin() + static_cast<std::ptrdiff_t>(end), '\t', ' ');
  std::istringstream stream(spaced);
  YAML::Parser parser(stream);
  Counter counter(std::numeric_limits<int>::max());
  try {
    parser.HandleNextDocument(counter);
  } catch (const YAML::Exception& other) {
    if (other.mark.pos == error.mark.pos && other.msg == error.msg) return std::string::npos;
  }
  return tab - begin;
}

void AddTooManyValues(const std::string& file, const TooManyValues& error, int most,
                      FaultList& faults) {
  faults.Add(At(file, error.mark), CheckCode::kTooManyValues,
             absl::StrCat("more than ", most, " values, or as many commas"));
}

// Returns what to do about an error of the parser, with its separator; empty where the error says
// it.
const char* CureOf(const std::string& error) {
  if (error == YAML::ErrorMsg::UNKNOWN_ANCHOR) return "; quote a text that begins with '*'";
  const bool structure = error.ends_with(" not found") || error.starts_with("illegal ");
  return structure ? "; check the indentation, brackets and quotes up to here" : "";
}

void AddSyntaxFault(const std::string& file, const std::string& text, TextFormat format,
                    const YAML::Exception& error, FaultList& faults) {
  Place place = At(file, error.mark);
  std::string why = error.msg;
  if (format == TextFormat::kYaml) absl::StrAppend(&why, CureOf(error.msg));
  const size_t tab = format == TextFormat::kYaml ? IndentingTab(text, error) : std::string::npos;
  if (tab != std::string::npos) {
    place.column = static_cast<int>(tab) + 1;
    why = "tabs may not indent; indent with spaces";
  }
  faults.Add(
      place, CheckCode::kNotYaml,
      absl::StrCat("this is not ", format == TextFormat::kJson ? "JSON" : "YAML", ": ", why));
}

// Returns false, with a fault, if the text is not one that the parser reads to its end.
bool IsPlainUtf8(const std::string& file, const std::string& text, FaultList& faults) {
  // yaml-cpp would silently end the document there.
  if (text.find('\0') != std::string::npos) {
    faults.Add({file, 0, 0, ""}, CheckCode::kNotUtf8, "holds a NUL byte; save it as text in UTF-8");
    return false;
  }
  if (const size_t at = FindInvalidUtf8(text); at != std::string::npos) {
    const std::string_view before = std::string_view(text).substr(0, at);
    const auto line = std::count(before.begin(), before.end(), '\n');
    const size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
    faults.Add({file, static_cast<int>(line) + 1, static_cast<int>(at - begin) + 1, ""},
               CheckCode::kNotUtf8, "this is not UTF-8; save the file as UTF-8");
    return false;
  }
  return true;
}

// Returns false, with a fault, if the text has more than `most_values` commas and brackets, each of
// which stands for a value unless it is part of a text. The parser would take hundreds of bytes for
// each before it tells of the first, since what it has begun may be a key.
bool MayBeScanned(const std::string& file, const std::string& text, int most_values,
                  FaultList& faults) {
  YAML::Mark mark;
  for (int64_t left = most_values + int64_t{1}; const char c : text) {
    const bool one = c == ',' || c == '[' || c == '{';
    if (one && --left < 0) {
      AddTooManyValues(file, {mark}, most_values, faults);
      return false;
    }
    mark.line += c == '\n' ? 1 : 0;
    mark.column = c == '\n' ? 0 : mark.column + 1;
  }
  return true;
}

// Counts the values, and the documents, since the parser takes some texts, like ",", for ever more
// of them at the same place. Returns false, with a fault, if there are too many documents; throws
// what the parser and Counter throw.
bool HasAnEnd(const std::string& file, const std::string& text, int most_values,
              FaultList& faults) {
  constexpr int kMaxDocuments = 10'000;
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Counter start(most_values);
  int last = -1;
  for (int documents = 1; parser.HandleNextDocument(start); ++documents) {
    if (start.mark().pos <= last) {
      throw YAML::ParserException(start.mark(), "no value can begin here");
    }
    if (documents > kMaxDocuments) {
      faults.Add(At(file, start.mark()), CheckCode::kSecondDocument,
                 absl::StrCat("there are more than ", kMaxDocuments, " documents"));
      return false;
    }
    last = start.mark().pos;
  }
  return true;
}

}  // namespace

bool ParseYamlDocument(const std::string& file, const std::string& text, int most_values,
                       YAML::Node& root, FaultList& faults, TextFormat format) {
  if (!IsPlainUtf8(file, text, faults) || !MayBeScanned(file, text, most_values, faults))
    return false;
  try {
    // YAML::LoadAll would not return from a text like ",": it takes it for ever more documents.
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Counter start(most_values);
    if (!parser.HandleNextDocument(start) || !parser.HandleNextDocument(start)) {
      root.reset(YAML::Load(text));
      return true;
    }
    faults.Add(At(file, start.mark()), CheckCode::kSecondDocument,
               "the YAML document ends before this; one per file is read");
  } catch (const TooManyValues& error) {
    AddTooManyValues(file, error, most_values, faults);
  } catch (const YAML::Exception& error) {
    AddSyntaxFault(file, text, format, error, faults);
  }
  return false;
}

bool ParseYamlDocuments(const std::string& file, const std::string& text, int most_values,
                        std::vector<YAML::Node>& roots, FaultList& faults) {
  if (!IsPlainUtf8(file, text, faults) || !MayBeScanned(file, text, most_values, faults))
    return false;
  try {
    if (!HasAnEnd(file, text, most_values, faults)) return false;
    roots = YAML::LoadAll(text);
    return true;
  } catch (const TooManyValues& error) {
    AddTooManyValues(file, error, most_values, faults);
  } catch (const YAML::Exception& error) {
    AddSyntaxFault(file, text, TextFormat::kYaml, error, faults);
  }
  return false;
}

bool ReadYamlStream(const std::string& file, const std::string& text, YAML::EventHandler& handler,
                    FaultList& faults) {
  if (!IsPlainUtf8(file, text, faults) || !MayBeScanned(file, text, kMaxOfStream, faults))
    return false;
  try {
    if (!HasAnEnd(file, text, kMaxOfStream, faults)) return false;
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
    return true;
  } catch (const TooManyValues& error) {
    AddTooManyValues(file, error, kMaxOfStream, faults);
  } catch (const YAML::Exception& error) {
    AddSyntaxFault(file, text, TextFormat::kYaml, error, faults);
  }
  return false;
}

}  // namespace levee
