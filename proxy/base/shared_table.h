// SPDX-License-Identifier: Apache-2.0
// Objects that are shared by all who name them alike.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// Hands out one object per key. It lives as long as somebody holds it, and for as long as it says
// something. `Key` has a defaulted operator<=>, so that a new field of it cannot be forgotten. Any
// thread; locks, so workers ask once per plan.
template <typename Key, typename T>
class SharedTable {
 public:
  struct Rules {
    // Whether an object that nobody holds still says something. nullptr: none does.
    bool (*says)(const T& object, Instant now) = nullptr;
    // Whether a key is of those that callers can make up, of which the table has so many at most.
    // nullptr: none is.
    bool (*made_up)(const Key& key) = nullptr;
    int most = 0;
  };

  explicit SharedTable(const Rules& rules = {}) : rules_(rules), most_(rules.most) {}

  // Objects that exist already stay.
  void SetMost(int most) {
    const std::lock_guard lock(mutex_);
    most_ = most;
  }

  // Returns the object of the key. If there is none, it is the result of `make`, a
  // std::shared_ptr<T>. nullptr: the key is made up, and there are too many of these.
  template <typename Make>
  std::shared_ptr<T> Get(const Key& key, Instant now, Make make) {
    const std::lock_guard lock(mutex_);
    if (now >= next_look_) Forget(now);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      if (std::shared_ptr<T> known = found->second.object.lock()) return known;
    }
    if (rules_.says == nullptr) Forget(now);
    if (IsMadeUp(key)) {
      if (made_up_ >= most_) return nullptr;
      ++made_up_;
    }
    std::shared_ptr<T> object = make();
    const bool stays = rules_.says != nullptr;
    entries_.emplace(key, Entry{object, stays ? object : nullptr, ++made_});
    return object;
  }

  // Drops what nobody holds and says nothing, if that was not done lately. Get does so.
  void ForgetNowAndThen(Instant now) {
    const std::lock_guard lock(mutex_);
    if (now >= next_look_) Forget(now);
  }

  // Drops it at once.
  void ForgetUnused(Instant now) {
    const std::lock_guard lock(mutex_);
    Forget(now);
  }

  struct Known {
    Key key;
    std::shared_ptr<T> object;
    bool held = false;  // by somebody else
  };

  // Returns all objects in the order in which they were made.
  std::vector<Known> All() const {
    std::map<uint64_t, Known> known;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [key, entry] : entries_) {
        std::shared_ptr<T> object = entry.object.lock();
        if (object == nullptr) continue;
        const bool held = IsHeld(entry, /*own=*/1);
        known.emplace(entry.number, Known{key, std::move(object), held});
      }
    }
    std::vector<Known> all;
    for (auto& [number, each] : known) all.push_back(std::move(each));
    return all;
  }

  // Returns how many keys it knows, some of which nobody may use any more.
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  // To look through all objects is worth it only so often.
  static constexpr absl::Duration kLookEvery = absl::Seconds(1);

  struct Entry {
    std::weak_ptr<T> object;
    std::shared_ptr<T> kept;  // the same, if it may stay where nobody holds it
    uint64_t number = 0;      // counts up
  };

  bool IsMadeUp(const Key& key) const { return rules_.made_up != nullptr && rules_.made_up(key); }

  // `own`: how many references the caller has.
  static bool IsHeld(const Entry& entry, int own) {
    return entry.object.use_count() > own + (entry.kept == nullptr ? 0 : 1);
  }

  // The lock is held.
  void Forget(Instant now) {
    next_look_ = rules_.says == nullptr ? Instant::Infinite() : now + kLookEvery;
    std::erase_if(entries_, [&](const auto& each) {
      const auto& [key, entry] = each;
      if (IsHeld(entry, /*own=*/0)) return false;
      if (entry.kept != nullptr && rules_.says(*entry.kept, now)) return false;
      if (IsMadeUp(key)) --made_up_;
      return true;
    });
  }

  const Rules rules_;
  mutable std::mutex mutex_;
  int most_;
  std::map<Key, Entry> entries_;
  int made_up_ = 0;    // of entries_
  uint64_t made_ = 0;  // since the start
  Instant next_look_;
};

}  // namespace levee
