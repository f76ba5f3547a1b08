// SPDX-License-Identifier: Apache-2.0
#include "config/load_stores.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "config/read_file.h"
#include "config/values.h"

namespace levee {
namespace {

constexpr size_t kMaxPasswordBytes = 4096;

// `field`: the path of the field that names the file. Returns "" without one, or with a fault.
std::string LoadPassword(const std::string& file, const std::string& field,
                         const Positions& positions, FaultList& faults) {
  if (!IsGiven(file)) return "";
  const absl::StatusOr<std::string> text = ReadFile(file, kMaxPasswordBytes);
  if (text.ok()) return std::string(absl::StripTrailingAsciiWhitespace(*text));
  const Place place = positions.Find(field);
  if (absl::IsOutOfRange(text.status())) {
    faults.Add(place, CheckCode::kFileTooLarge,
               absl::StrCat(file, " is larger than ", kMaxPasswordBytes, " bytes"));
  } else {
    faults.Add(place, CheckCode::kUnreadableFile,
               absl::StrCat(file, ": ", text.status().message()));
  }
  return "";
}

}  // namespace

std::vector<StorePasswords> LoadStorePasswords(const config::v1::Config& config,
                                               const Positions& positions, FaultList& faults) {
  std::vector<StorePasswords> passwords;
  for (int i = 0; i < config.stores_size(); ++i) {
    const config::v1::Store& store = config.stores(i);
    const std::string path = absl::StrCat("stores[", i, "].");
    passwords.push_back(
        {.redis = LoadPassword(store.password_file(), path + "password_file", positions, faults),
         .sentinels = LoadPassword(store.sentinel().password_file(),
                                   path + "sentinel.password_file", positions, faults)});
  }
  return passwords;
}

}  // namespace levee
