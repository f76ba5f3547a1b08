// SPDX-License-Identifier: Apache-2.0
#include "dedupe/key_claim.h"

namespace levee {

KeyView LookAtKey(const KeyClaim* claim, const std::optional<Sha256>& digest, Instant now) {
  if (claim == nullptr || now >= claim->expires) return KeyView::kFree;
  if (!digest.has_value()) return KeyView::kNeedsRequest;
  if (claim->digest.has_value() && claim->digest != digest) return KeyView::kMismatch;
  if (claim->answer != nullptr) return KeyView::kEnded;
  return now < claim->until ? KeyView::kRuns : KeyView::kLost;
}

bool MayTakeKey(KeyView view, DedupePolicy::Lost on_lost) {
  return view == KeyView::kFree || (view == KeyView::kLost && on_lost == DedupePolicy::Lost::kRun);
}

}  // namespace levee
