// Tells when files may have changed.
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

// Watches the directories that files are in and not the files, since nobody writes to the files:
// editors put another one in their place, and Kubernetes, which mounts a ConfigMap as links into a
// directory that is itself behind a link, puts another link in that one's place. So every directory
// on a file's way in which a link stands is watched as well, for the names that matter there. (Not
// those above the file's own: a directory that is moved away as a whole goes unnoticed.)
//
// A file that does not exist is one that may come. What is reported is only that something has
// happened: whether the content differs is for the reader to find out. One thread, the loop's.
class FileWatcher {
 public:
  // Changes come in rows: a file is emptied, written piece by piece, given its permissions. They
  // are reported this long after the last one, and this long after the first one at the latest.
  static constexpr absl::Duration kSettled = absl::Milliseconds(200);
  static constexpr absl::Duration kLongest = absl::Seconds(10);

  // `loop` outlives the watcher.
  FileWatcher(EventLoop& loop, std::function<void()> changed);
  ~FileWatcher();
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

  // Watches these files from now on and no others. Returns what is wrong with the directories that
  // cannot be watched, a sentence each: changes there go unnoticed.
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
