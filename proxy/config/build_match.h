// SPDX-License-Identifier: Apache-2.0
// The conditions of a route.
#pragma once

#include "levee/config/v1/config.pb.h"
#include "policy/route_table.h"

namespace levee {

Direction DirectionOf(const config::v1::Listener& listener);

// Returns a route with the conditions of `match`, which has no fault, and leads nowhere yet.
// `config` has the listener that it names.
Route BuildMatch(const config::v1::Config& config, const config::v1::Route::Match& match);

}  // namespace levee
