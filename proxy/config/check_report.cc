// SPDX-License-Identifier: Apache-2.0
#include "config/check_report.h"

#include "absl/strings/str_cat.h"
#include "config/json_emitter.h"

namespace levee {
namespace {

std::string Count(size_t count, const char* what) {
  return count == 0 ? "" : absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

void Emit(const std::vector<Fault>& faults, YAML::Emitter& out) {
  out << YAML::BeginSeq;
  for (const Fault& fault : faults) {
    out << YAML::BeginMap << YAML::Key << "file" << YAML::Value << fault.file;
    out << YAML::Key << "line" << YAML::Value << fault.line;
    out << YAML::Key << "column" << YAML::Value << fault.column;
    out << YAML::Key << "code" << YAML::Value << CheckCodeText(fault.code);
    out << YAML::Key << "severity" << YAML::Value << (IsWarning(fault.code) ? "warning" : "fault");
    out << YAML::Key << "path" << YAML::Value << fault.path;
    out << YAML::Key << "text" << YAML::Value << fault.text << YAML::EndMap;
  }
  out << YAML::EndSeq;
}

}  // namespace

std::string SummaryOf(const CheckedConfig& checked) {
  const std::string faults = Count(checked.faults.size(), "fault");
  const std::string warnings = Count(checked.warnings.size(), "warning");
  return absl::StrCat(faults, faults.empty() || warnings.empty() ? "" : ", ", warnings);
}

std::string CheckReportJson(const std::vector<std::string>& files, const CheckedConfig& checked,
                            bool ok) {
  JsonEmitter json;
  YAML::Emitter& out = json.out();
  out << YAML::BeginMap << YAML::Key << "ok" << YAML::Value << ok;
  out << YAML::Key << "files" << YAML::Value << files;
  out << YAML::Key << "faults" << YAML::Value;
  Emit(checked.faults, out);
  out << YAML::Key << "warnings" << YAML::Value;
  Emit(checked.warnings, out);
  out << YAML::EndMap;
  return json.text();
}

}  // namespace levee
