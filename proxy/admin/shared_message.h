// SPDX-License-Identifier: Apache-2.0
// Makes the parts of levee.admin.v1.State that are about what sidecars share.
#pragma once

#include <cstddef>

#include "admin/sidecar_view.h"
#include "insight/store_board.h"
#include "insight/store_record.h"
#include "levee/admin/v1/admin.pb.h"

namespace levee {

// Of many nodes those come first that are not ready.
admin::v1::Store StoreMessage(const StoreView& store, const StoreRecord::Past& past,
                              const SidecarView::Facts& facts);
inline constexpr size_t kMaxStoreNodes = 50;

// The rate limits that are shared, and who decides on them.
void AddLimits(const SidecarView& view, admin::v1::Sidecar& sidecar);

// The idempotency keys of each upstream that has some.
void AddKeys(const SidecarView& view, admin::v1::Sidecar& sidecar);

}  // namespace levee
