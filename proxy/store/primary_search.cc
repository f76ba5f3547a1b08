// SPDX-License-Identifier: Apache-2.0
#include "store/primary_search.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace levee {

PrimarySearch::PrimarySearch(std::string master, size_t sentinels, Random& random)
    : master_(std::move(master)), sentinels_(sentinels), random_(random) {}

absl::Duration PrimarySearch::NextDelay() {
  const absl::Duration longest =
      std::min(kFirstDelay * (1 << std::min(delays_++, 8)), kLongestDelay);
  return longest * (1 + random_.Uniform()) / 2;
}

std::optional<ServerAddress> PrimarySearch::OnAnswer(const absl::StatusOr<RedisReply>& reply,
                                                     Instant now) {
  using Kind = RedisReply::Kind;
  asking_ = false;
  if (!reply.ok()) return Missed(std::string(reply.status().message()), now);
  if (reply->kind == Kind::kError) return Missed(reply->text, now);
  if (reply->kind == Kind::kNil) return Missed(absl::StrCat("it knows no ", master_), now);
  int port = 0;
  if (reply->kind != Kind::kList || reply->list.size() != 2 || reply->list[0].text.empty() ||
      !absl::SimpleAtoi(reply->list[1].text, &port) || port < 1 || port > 65535) {
    return Missed("its answer is no address", now);
  }
  misses_ = 0;
  trouble_.clear();
  const ServerAddress named{reply->list[0].text, static_cast<uint16_t>(port)};
  if (named == primary_) {
    if (ready_) {
      next_question_ = now + kAgainAfter * (0.8 + 0.4 * random_.Uniform());
    } else {
      // Others may know more than this one.
      next_question_ = now + NextDelay();
      AskNext();
    }
    return std::nullopt;
  }
  primary_ = named;
  ready_ = false;
  next_question_ = now + kLongestDelay;
  return named;
}

std::optional<ServerAddress> PrimarySearch::Missed(std::string trouble, Instant now) {
  trouble_ = std::move(trouble);
  AskNext();
  const bool all = ++misses_ % sentinels_ == 0;
  next_question_ = all ? now + NextDelay() : now;
  return std::nullopt;
}

void PrimarySearch::OnReady(Instant now) {
  ready_ = true;
  delays_ = 0;
  next_question_ = now + kAgainAfter * (0.8 + 0.4 * random_.Uniform());
}

void PrimarySearch::OnLost(Instant now) {
  if (std::exchange(ready_, false)) {
    next_question_ = now;
  } else {
    next_question_ = std::min(next_question_, now + NextDelay());
  }
}

}  // namespace levee
