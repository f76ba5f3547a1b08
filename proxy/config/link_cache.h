// SPDX-License-Identifier: Apache-2.0
// Lets all files that are read at one time come from one version of the folder that they are in.
#pragma once

#include <filesystem>
#include <map>

namespace levee {

// Kubernetes mounts a secret as links into a folder behind the link ..data, and to replace the
// secret puts another link in the place of that one. A certificate and a key that are read one
// after the other would then be of two secrets. So each link is followed to where it led when it
// was first met.
class LinkCache {
 public:
  // Returns the place of `file`, an absolute path, without links. Where nothing is there, or too
  // many links lead on, the result cannot be opened either.
  std::filesystem::path Follow(const std::filesystem::path& file);

  // Whether a link that was followed leads elsewhere by now.
  bool Overtaken() const;

 private:
  const std::filesystem::path* TargetOf(const std::filesystem::path& link);

  std::map<std::filesystem::path, std::filesystem::path> targets_;  // by link
};

}  // namespace levee
