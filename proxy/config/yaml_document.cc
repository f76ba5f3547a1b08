// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_document.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/utf8.h"
#include "yaml-cpp/eventhandler.h"

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

}  // namespace

bool ParseYamlDocument(const std::string& file, const std::string& text, YAML::Node& root,
                       FaultList& faults) {
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
    faults.Add(At(file, error.mark), CheckCode::kNotYaml,
               absl::StrCat("this is not YAML: ", error.msg));
  }
  return false;
}

}  // namespace levee
