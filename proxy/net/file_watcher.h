// SPDX-License-Identifier: Apache-2.0
// Reports when files may have changed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "net/event_loop.h"

namespace levee::net {

// Watches the directories of the files and not the files, since a change seldom writes to a file.
// Editors put another file in its place. Kubernetes mounts a ConfigMap as links into a directory
// that is itself behind a link, and puts another link in the place of that one. So the watcher also
// watches every directory that holds a link on the way to a file, for the names that matter there.
// (It does not watch directories above the file's own: if such a directory is moved away as a
// whole, that is not noticed.)
//
// A file that does not exist may come. A report only says that something has happened; the reader
// must find out whether the content differs. One thread, the loop's.
class FileWatcher {
 public:
  // Changes come in rows: a file is emptied, written piece by piece, given its permissions. A row
  // is reported kSettled after its last change, and kLongest after its first one at the latest.
  static constexpr absl::Duration kSettled = absl::Milliseconds(200);
  static constexpr absl::Duration kLongest = absl::Seconds(10);

  // `loop` must outlive the watcher.
  FileWatcher(EventLoop& loop, std::function<void()> changed);
  ~FileWatcher();
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

  // Watches these files from now on and no others. Returns a sentence for each directory that
  // cannot be watched; changes there are not noticed.
  std::vector<std::string> Watch(std::vector<std::string> files);

  // Reports a change as if there had been one now.
  void Expect();

 private:
  class Directory;
  class Delay;
  // The names that matter, by directory.
  using Names = std::map<std::string, std::set<std::string>>;

  static Names NamesOf(const std::vector<std::string>& files);
  std::vector<std::string> WatchDirectories();
  void OnChange();

  EventLoop& loop_;
  const std::function<void()> changed_;
  std::vector<std::string> files_;
  std::vector<std::unique_ptr<Directory>> directories_;
  std::unique_ptr<Delay> delay_;
};

}  // namespace levee::net
