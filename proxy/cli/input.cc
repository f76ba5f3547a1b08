// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include <iostream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "config/read_file.h"

namespace levee {
namespace {

// Does for standard input what config's ReadFile does for a file.
absl::StatusOr<std::string> ReadStandardInput(size_t max_bytes) {
  std::string text(max_bytes + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::cin.gcount()));
  if (std::cin.bad()) return absl::UnknownError("Input/output error");
  if (text.size() > max_bytes) return absl::OutOfRangeError("too large");
  return text;
}

}  // namespace

std::optional<ConfigText> ReadInput(const std::string& file, size_t max_bytes, FaultList& faults) {
  absl::StatusOr<std::string> text =
      file == kStandardInput ? ReadStandardInput(max_bytes) : ReadFile(file, max_bytes);
  if (text.ok()) return ConfigText{file, *std::move(text)};
  const std::string reason(text.status().message());
  const bool large = absl::IsOutOfRange(text.status());
  faults.Add({file, 0, 0, ""}, large ? CheckCode::kFileTooLarge : CheckCode::kUnreadableFile,
             large ? absl::StrCat("is larger than ", max_bytes >> 20, " MiB")
                   : absl::StrCat("cannot be read: ", reason));
  return std::nullopt;
}

}  // namespace levee
