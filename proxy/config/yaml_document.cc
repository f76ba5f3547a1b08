// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_document.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/utf8.h"

namespace levee {
namespace {

// Listens only to the start of documents.
class DocumentStart : public YAML::EventHandler {
 public:
  const YAML::Mark& mark() const { return mark_; }

  void OnDocumentStart(const YAML::Mark& mark) override { mark_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
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
  try {
    YAML::Load(spaced);
  } catch (const YAML::Exception& other) {
    if (other.mark.pos == error.mark.pos && other.msg == error.msg) return std::string::npos;
  }
  return tab - begin;
}

void AddSyntaxFault(const std::string& file, const std::string& text, TextFormat format,
                    const YAML::Exception& error, FaultList& faults) {
  Place place = At(file, error.mark);
  std::string why = error.msg;
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
    faults.Add({file, 0, 0, ""}, CheckCode::kNotUtf8, "holds a NUL byte; text in UTF-8 is wanted");
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

// Counts the documents, since the parser takes some texts, like ",", for ever more of them at the
// same place. Returns false, with a fault, if there are too many; throws what the parser throws.
bool HasAnEnd(const std::string& file, const std::string& text, FaultList& faults) {
  constexpr int kMaxDocuments = 10'000;
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStart start;
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

bool ParseYamlDocument(const std::string& file, const std::string& text, YAML::Node& root,
                       FaultList& faults, TextFormat format) {
  if (!IsPlainUtf8(file, text, faults)) return false;
  try {
    root.reset(YAML::Load(text));
    // YAML::LoadAll would not return from a text like ",": it takes it for ever more documents.
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    DocumentStart start;
    if (!parser.HandleNextDocument(start) || !parser.HandleNextDocument(start)) return true;
    faults.Add(At(file, start.mark()), CheckCode::kSecondDocument,
               "the YAML document ends before this; one per file is read");
  } catch (const YAML::Exception& error) {
    AddSyntaxFault(file, text, format, error, faults);
  }
  return false;
}

bool ParseYamlDocuments(const std::string& file, const std::string& text,
                        std::vector<YAML::Node>& roots, FaultList& faults) {
  if (!IsPlainUtf8(file, text, faults)) return false;
  try {
    if (!HasAnEnd(file, text, faults)) return false;
    roots = YAML::LoadAll(text);
    return true;
  } catch (const YAML::Exception& error) {
    AddSyntaxFault(file, text, TextFormat::kYaml, error, faults);
  }
  return false;
}

bool ReadYamlStream(const std::string& file, const std::string& text, YAML::EventHandler& handler,
                    FaultList& faults) {
  if (!IsPlainUtf8(file, text, faults)) return false;
  try {
    if (!HasAnEnd(file, text, faults)) return false;
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
    return true;
  } catch (const YAML::Exception& error) {
    AddSyntaxFault(file, text, TextFormat::kYaml, error, faults);
  }
  return false;
}

}  // namespace levee
