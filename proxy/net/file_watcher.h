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
#include "base/instant.h"
#include "net/event_loop.h"

namespace levee::net {

// Watches the directories of the files and not the files, since a change seldom writes to a file.
// Editors put another file in its place. Kubernetes mounts a ConfigMap as links into a directory
// that is itself behind a link, and puts another link in the place of that one. So the watcher also
// watches every directory that holds a link on the way to a file, for the names that matter there.
//
// Some changes are told by nobody: those of directories above the file's own, and all of a file
// system that other machines write to. So the watcher also looks at the files themselves now and
// then.
//
// A file that does not exist may come. A report only says that something has happened; the reader
// must find out whether the content differs. One thread, the loop's.
class FileWatcher {
 public:
  // Changes come in rows: a file is emptied, written piece by piece, given its permissions. A row
  // is reported kSettled after its last change, and kLongest after its first one at the latest.
  static constexpr absl::Duration kSettled = absl::Milliseconds(200);
  static constexpr absl::Duration kLongest = absl::Seconds(10);

  // How often it looks at the files themselves, unless it is told otherwise.
  static constexpr absl::Duration kPoll = absl::Seconds(10);

  // `loop` must outlive the watcher.
  FileWatcher(EventLoop& loop, std::function<void()> changed, absl::Duration poll = kPoll);
  ~FileWatcher();
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

  // Watches these files from now on and no others. Returns a sentence for each directory that
  // cannot be watched; changes there are noticed after kPoll at the latest.
  std::vector<std::string> Watch(std::vector<std::string> files);

  // Reports a change as if there had been one after `delay`, from now. The latest call counts.
  void Expect(absl::Duration delay = absl::ZeroDuration());

 private:
  class Directory;
  class Look;
  class Timer;
  // The names that matter, by directory.
  using Names = std::map<std::string, std::set<std::string>>;

  static Names NamesOf(const std::vector<std::string>& files);
  std::vector<std::string> WatchDirectories();
  void OnChange();
  void OnSettled();

  EventLoop& loop_;
  const std::function<void()> changed_;
  const absl::Duration poll_;
  std::vector<std::string> files_;
  std::vector<std::unique_ptr<Directory>> directories_;
  std::vector<std::unique_ptr<Look>> looks_;
  Instant latest_ = Instant::Infinite();  // the latest end of the current row of changes
  const std::unique_ptr<Timer> settled_;
  const std::unique_ptr<Timer> expected_;
};

}  // namespace levee::net
