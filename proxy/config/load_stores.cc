// SPDX-License-Identifier: Apache-2.0
#include "config/load_stores.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "config/read_file.h"

namespace levee {
namespace {

constexpr size_t kMaxPasswordBytes = 4096;

}  // namespace

std::vector<std::string> LoadStorePasswords(const config::v1::Config& config,
                                            const Positions& positions, FaultList& faults) {
  std::vector<std::string> passwords;
  for (int i = 0; i < config.stores_size(); ++i) {
    std::string& password = passwords.emplace_back();
    const std::string& file = config.stores(i).password_file();
    if (file.empty() || file == "none") continue;
    const absl::StatusOr<std::string> text = ReadFile(file, kMaxPasswordBytes);
    if (text.ok()) {
      password = std::string(absl::StripTrailingAsciiWhitespace(*text));
      continue;
    }
    const Place place = positions.Find(absl::StrCat("stores[", i, "].password_file"));
    if (absl::IsOutOfRange(text.status())) {
      faults.Add(place, CheckCode::kFileTooLarge,
                 absl::StrCat(file, " is larger than ", kMaxPasswordBytes, " bytes"));
    } else {
      faults.Add(place, CheckCode::kUnreadableFile,
                 absl::StrCat(file, ": ", text.status().message()));
    }
  }
  return passwords;
}

}  // namespace levee
