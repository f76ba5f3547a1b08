// SPDX-License-Identifier: Apache-2.0
// The buckets of one rate limit, one for each key, up to a bound.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/intrusive_list.h"
#include "policy/bucket_key.h"
#include "policy/gcra.h"

namespace levee {

// Holds at most `max_keys` buckets and a shared one for the keys that get none. A limit without key
// has the shared one alone. Any thread: keys are spread over stripes, each with a lock; the shared
// bucket needs none of these locks.
//
// When there are max_keys buckets, a new key takes the place of an idle bucket, which has nothing
// to forget. So a key that is in use is never reset, and a caller who makes up keys cannot drive
// out the keys of others. An idle bucket is searched among the kLooks least recently used of the
// key's stripe. Buckets found busy go to the end of that order, so that the next search sees
// others. No call costs more than this search, except for the growth of a stripe's table, which is
// small. A key takes at most half a kilobyte.
//
// Bucket is Gcra, AdaptiveBucket, LeaseBucket or ServiceBucket.
template <typename Bucket>
class BucketTable {
 public:
  using Rule = typename Bucket::Rule;

  // `max_keys`: 0 for a limit without key.
  BucketTable(const Rule& rule, int max_keys)
      : rule_(rule),
        max_keys_(max_keys),
        stripe_count_(std::bit_ceil(static_cast<size_t>(max_keys) / kKeysPerStripe)),
        stripes_(max_keys > 0 ? std::make_unique<Stripe[]>(stripe_count_) : nullptr),
        shared_(rule) {}

  // As the bucket's own functions, on the bucket of `key`.
  RatePermit Take(std::string_view key, Instant now, absl::Duration max_wait) {
    return Use(key, now, [&](Bucket& bucket) { return bucket.Take(rule_, now, max_wait); });
  }
  RatePermit Check(std::string_view key, Instant now, absl::Duration max_wait) {
    return Use(key, now, [&](Bucket& bucket) { return bucket.Check(rule_, now, max_wait); });
  }
  void OnOverloaded(std::string_view key, Instant attempt_start, Instant now) {
    Use(key, now, [&](Bucket& bucket) {
      bucket.OnOverloaded(rule_, attempt_start, now);
      return RatePermit();
    });
  }
  void Return(std::string_view key, const RatePermit& permit) {
    // A bucket that has made room for another key was full even without the permit.
    Visit(key, permit.shared_bucket,
          [&](Bucket& bucket, const Rule& rule) { bucket.Return(rule, permit); });
  }

  // Calls f with the bucket that decided for `key`, unless that has made room for another key, and
  // with the rule. `shared_bucket`: as the permit said.
  template <typename F>
  void Visit(std::string_view key, bool shared_bucket, F f) {
    if (stripes_ == nullptr || shared_bucket) return f(shared_, rule_);
    const BucketKey bounded(key);
    const size_t hash = Hash()(bounded.text());
    Stripe& stripe = StripeOf(hash);
    const std::lock_guard lock(stripe.mutex);
    const auto found = stripe.entries.find(bounded.text(), hash);
    if (found != stripe.entries.end()) f((*found)->bucket, rule_);
  }

  // The number of keys that have a bucket of their own.
  int keys() const { return key_count_.load(std::memory_order_relaxed); }

  // Calls f with each bucket and the rule, the shared one last. Holds the lock of one stripe at a
  // time.
  template <typename F>
  void ForEach(F f) {
    for (size_t i = 0; stripes_ != nullptr && i < stripe_count_; ++i) {
      const std::lock_guard lock(stripes_[i].mutex);
      for (const auto& entry : stripes_[i].entries) f(entry->bucket, rule_);
    }
    f(shared_, rule_);
  }

 private:
  static constexpr int kLooks = 4;
  // A stripe of this size has a table that grows in microseconds, and seldom lacks an idle bucket
  // while other stripes have one.
  static constexpr size_t kKeysPerStripe = 1024;

  struct Entry : ListLink<Entry> {
    Entry(std::string_view text, const Rule& rule) : key(text), bucket(rule) {}

    const std::string key;
    Bucket bucket;
  };

  static std::string_view KeyOf(std::string_view key) { return key; }
  static std::string_view KeyOf(const std::unique_ptr<Entry>& entry) { return entry->key; }
  struct Hash {
    using is_transparent = void;
    template <typename T>
    size_t operator()(const T& key) const {
      return absl::HashOf(KeyOf(key));
    }
  };
  struct Equal {
    using is_transparent = void;
    template <typename T, typename U>
    bool operator()(const T& a, const U& b) const {
      return KeyOf(a) == KeyOf(b);
    }
  };

  struct alignas(64) Stripe {
    std::mutex mutex;
    absl::flat_hash_set<std::unique_ptr<Entry>, Hash, Equal> entries;
    IntrusiveList<Entry> by_use;  // the least recently used first
  };

  // The table within a stripe goes by the hash's lower half.
  Stripe& StripeOf(size_t hash) { return stripes_[(hash >> 32) & (stripe_count_ - 1)]; }

  template <typename F>
  RatePermit Use(std::string_view key, Instant now, F f) {
    if (stripes_ == nullptr) return f(shared_);
    const BucketKey bounded(key);
    const size_t hash = Hash()(bounded.text());
    Stripe& stripe = StripeOf(hash);
    {
      const std::lock_guard lock(stripe.mutex);
      if (Bucket* own = FindOrAdd(stripe, bounded.text(), hash, now)) return f(*own);
    }
    RatePermit permit = f(shared_);
    permit.shared_bucket = true;
    return permit;
  }

  // Returns the key's own bucket, nullptr if there is no room for one.
  Bucket* FindOrAdd(Stripe& stripe, std::string_view key, size_t hash, Instant now) {
    const auto found = stripe.entries.find(key, hash);
    if (found != stripe.entries.end()) {
      Entry& entry = **found;
      entry.Unlink();
      stripe.by_use.PushBack(entry);
      return &entry.bucket;
    }
    if (!CountOneMore() && !RemoveIdle(stripe, now)) return nullptr;
    auto entry = std::make_unique<Entry>(key, rule_);
    Bucket* const bucket = &entry->bucket;
    stripe.by_use.PushBack(*entry);
    stripe.entries.insert(std::move(entry));
    return bucket;
  }

  // Returns false if there are max_keys buckets.
  bool CountOneMore() {
    int count = key_count_.load(std::memory_order_relaxed);
    while (count < max_keys_) {
      if (key_count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  bool RemoveIdle(Stripe& stripe, Instant now) {
    for (int looks = 0; looks < kLooks && !stripe.by_use.empty(); ++looks) {
      Entry& oldest = stripe.by_use.Front();
      if (oldest.bucket.IdleAt(rule_, now)) {
        stripe.entries.erase(stripe.entries.find(std::string_view(oldest.key)));
        return true;
      }
      oldest.Unlink();
      stripe.by_use.PushBack(oldest);
    }
    return false;
  }

  const Rule rule_;
  const int max_keys_;
  const size_t stripe_count_;  // a power of two
  const std::unique_ptr<Stripe[]> stripes_;
  std::atomic<int> key_count_{0};
  alignas(64) Bucket shared_;  // apart from what every call reads
};

}  // namespace levee
