// SPDX-License-Identifier: Apache-2.0
// Files with certificates and keys, as they are before a sidecar.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "certificates/authority.h"
#include "gtest/gtest.h"

namespace levee {

// A folder with the files that a configuration names; removed by the destructor.
class PemFiles {
 public:
  PemFiles() {
    std::string name = ::testing::TempDir() + "levee-tls-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~PemFiles() { std::filesystem::remove_all(path_); }
  PemFiles(const PemFiles&) = delete;
  PemFiles& operator=(const PemFiles&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Puts the file in the place of an older one, as a whole. Returns its path.
  std::string Put(const std::string& name, const std::string& text) const {
    using std::filesystem::perms;
    std::ofstream(path_ / "new") << text;
    std::filesystem::permissions(path_ / "new", perms::owner_read | perms::owner_write);
    std::filesystem::rename(path_ / "new", path_ / name);
    return path_ / name;
  }

  // Puts a certificate and its key. Returns "certificate: FILE, key: FILE".
  std::string Put(const std::string& name, const PemPair& pair) const {
    const std::string certificate = Put(name + ".crt", pair.certificate);
    return "certificate: " + certificate + ", key: " + Put(name + ".key", pair.key);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace levee
