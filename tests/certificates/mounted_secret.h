// SPDX-License-Identifier: Apache-2.0
// A folder as Kubernetes mounts a secret.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"

namespace levee {

// Each file is a link into the folder behind the link ..data, whose place another link takes.
class MountedSecret {
 public:
  explicit MountedSecret(const std::filesystem::path& path) : path_(path) {
    std::filesystem::create_directory(path);
  }

  // Replaces all files at once; those of before are gone.
  void Put(const std::map<std::string, std::string>& files) {
    namespace fs = std::filesystem;
    const fs::path before = folder_;
    folder_ = absl::StrCat("..", ++versions_);
    fs::create_directory(path_ / folder_);
    for (const auto& [name, text] : files) {
      std::ofstream(path_ / folder_ / name) << text;
      if (versions_ == 1) fs::create_symlink(fs::path("..data") / name, path_ / name);
    }
    fs::create_directory_symlink(folder_, path_ / "..data_tmp");
    fs::rename(path_ / "..data_tmp", path_ / "..data");
    if (!before.empty()) fs::remove_all(path_ / before);
  }

  // "ca: FILE, certificate: FILE, key: FILE".
  std::string Files() const {
    const std::string file = path_.string() + "/";
    return absl::StrCat("ca: ", file, "ca.crt, certificate: ", file, "tls.crt, key: ", file,
                        "tls.key");
  }

 private:
  const std::filesystem::path path_;
  std::filesystem::path folder_;
  int versions_ = 0;
};

}  // namespace levee
