// SPDX-License-Identifier: Apache-2.0
#include "sidecar/shared_keys.h"

#include <utility>

#include "store/key_script.h"

namespace levee {

void SharedKeys::Post(KeyCommand command) {
  {
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(command));
    if (posted_.size() > 1) return;  // The loop is on its way to them.
  }
  loop_.Post([this] { TakePosted(); });
}

void SharedKeys::TakePosted() {
  std::vector<KeyCommand> posted;
  {
    const std::lock_guard lock(posted_mutex_);
    posted.swap(posted_);
  }
  for (KeyCommand& command : posted) keeper_.Take(std::move(command), loop_.now());
  Rearm();
}

void SharedKeys::Send(const KeyCommand& command, Done done) {
  const Place place = find_(command.store);
  if (place.client == nullptr) {
    return done(absl::FailedPreconditionError("the store is gone"), loop_.now());
  }
  ++under_way_;
  RedisKeys::Send(
      *place.client, place.prefix, command, [this] { return loop_.now(); },
      [this, done = std::move(done)](const absl::StatusOr<KeyReply>& reply) mutable {
        --under_way_;
        done(reply, loop_.now());
        Rearm();
      });
}

void SharedKeys::Finish() {
  finishing_ = true;
  Timer::Unlink();
}

void SharedKeys::Rearm() {
  if (!finishing_) wheel_.Arm(*this, keeper_.NextTimer());
}

void SharedKeys::OnTimer(Instant now) {
  keeper_.OnTimer(now);
  Rearm();
}

}  // namespace levee
