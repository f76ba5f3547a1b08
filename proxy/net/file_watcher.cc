// SPDX-License-Identifier: Apache-2.0
#include "net/file_watcher.h"

#include <uv.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/link_walk.h"
#include "net/event_loop_uv.h"

namespace levee::net {

namespace fs = std::filesystem;

// libuv's handles outlive their owners until the loop has closed them.
class FileWatcher::Directory {
 public:
  Directory(FileWatcher& watcher, std::string path, std::set<std::string> names)
      : watcher_(watcher),
        path_(std::move(path)),
        names_(std::move(names)),
        event_(new uv_fs_event_t) {
    LEVEE_CHECK(uv_fs_event_init(&watcher_.loop_.internals().uv, event_) == 0);
    event_->data = this;
  }

  ~Directory() {
    event_->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(event_),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_fs_event_t*>(handle); });
  }

  // Returns what is wrong; empty if nothing is.
  std::string Start() {
    const int error = uv_fs_event_start(event_, OnEvent, path_.c_str(), 0);
    return error == 0 ? "" : absl::StrCat("cannot watch ", path_, ": ", uv_strerror(error));
  }

 private:
  static void OnEvent(uv_fs_event_t* event, const char* name, int, int) {
    const auto* directory = static_cast<const Directory*>(event->data);
    if (directory == nullptr) return;
    if (name == nullptr || directory->names_.contains(name)) directory->watcher_.OnChange();
  }

  FileWatcher& watcher_;
  const std::string path_;
  const std::set<std::string> names_;
  uv_fs_event_t* const event_;
};

class FileWatcher::Timer {
 public:
  Timer(EventLoop& loop, std::function<void()> over)
      : loop_(loop), over_(std::move(over)), timer_(new uv_timer_t) {
    LEVEE_CHECK(uv_timer_init(&loop_.internals().uv, timer_) == 0);
    timer_->data = this;
  }

  ~Timer() {
    uv_close(reinterpret_cast<uv_handle_t*>(timer_),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_timer_t*>(handle); });
  }

  void Start(absl::Duration delay) {
    uv_update_time(&loop_.internals().uv);
    uv_timer_start(timer_, OnOver, static_cast<uint64_t>(absl::ToInt64Milliseconds(delay)), 0);
  }

 private:
  static void OnOver(uv_timer_t* timer) { static_cast<Timer*>(timer->data)->over_(); }

  EventLoop& loop_;
  const std::function<void()> over_;
  uv_timer_t* const timer_;
};

// libuv asks for the file's state in a thread of its own, since a file system may not answer.
class FileWatcher::Look {
 public:
  Look(FileWatcher& watcher, const std::string& file) : watcher_(watcher), poll_(new uv_fs_poll_t) {
    LEVEE_CHECK(uv_fs_poll_init(&watcher_.loop_.internals().uv, poll_) == 0);
    poll_->data = this;
    uv_fs_poll_start(poll_, OnOther, file.c_str(),
                     static_cast<unsigned>(absl::ToInt64Milliseconds(watcher_.poll_)));
  }

  ~Look() {
    poll_->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(poll_),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_fs_poll_t*>(handle); });
  }

 private:
  static void OnOther(uv_fs_poll_t* poll, int, const uv_stat_t*, const uv_stat_t*) {
    if (poll->data != nullptr) static_cast<Look*>(poll->data)->watcher_.OnChange();
  }

  FileWatcher& watcher_;
  uv_fs_poll_t* const poll_;
};

FileWatcher::FileWatcher(EventLoop& loop, std::function<void()> changed, absl::Duration poll)
    : loop_(loop),
      changed_(std::move(changed)),
      poll_(poll),
      settled_(std::make_unique<Timer>(loop, [this] { OnSettled(); })),
      expected_(std::make_unique<Timer>(loop, [this] { OnChange(); })) {}

FileWatcher::~FileWatcher() = default;

void FileWatcher::Expect(absl::Duration delay) { expected_->Start(delay); }

// Follows each path as the system does, link by link.
FileWatcher::Names FileWatcher::NamesOf(const std::vector<std::string>& files) {
  Names names;
  for (const std::string& file : files) {
    std::error_code error;
    const fs::path absolute = fs::absolute(file, error);
    LinkWalk walk(absolute);
    while (walk.Step()) {
      const fs::path& place = walk.place();
      const fs::file_status status = fs::symlink_status(place, error);
      const bool missing = !fs::exists(status), link = fs::is_symlink(status);
      if (walk.last() || missing || link) names[place.parent_path()].insert(place.filename());
      if (missing || (link && !walk.Follow(fs::read_symlink(place, error)))) break;
    }
  }
  // A directory reports its own end under its own name.
  for (auto& [path, wanted] : names) wanted.insert(fs::path(path).filename());
  return names;
}

std::vector<std::string> FileWatcher::Watch(std::vector<std::string> files) {
  files_ = std::move(files);
  looks_.clear();
  for (const std::string& file : files_) looks_.push_back(std::make_unique<Look>(*this, file));
  return WatchDirectories();
}

std::vector<std::string> FileWatcher::WatchDirectories() {
  std::vector<std::string> faults;
  std::vector<std::unique_ptr<Directory>> before = std::exchange(directories_, {});
  for (auto& [path, names] : NamesOf(files_)) {
    auto directory = std::make_unique<Directory>(*this, path, names);
    if (std::string fault = directory->Start(); !fault.empty()) faults.push_back(std::move(fault));
    directories_.push_back(std::move(directory));
  }
  return faults;  // The old watches end here, after the new ones began: no change is missed.
}

void FileWatcher::OnChange() {
  const Instant now = ReadClock();
  if (latest_.is_infinite()) latest_ = now + kLongest;
  settled_->Start(std::clamp(latest_ - now, absl::ZeroDuration(), kSettled));
}

void FileWatcher::OnSettled() {
  latest_ = Instant::Infinite();
  WatchDirectories();  // The names may lead elsewhere by now. Later changes are reported again.
  changed_();
}

}  // namespace levee::net
