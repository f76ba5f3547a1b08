// SPDX-License-Identifier: Apache-2.0
// Decides what becomes of the routes that no route of a policy can say.
#pragma once

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// No call may be tried more often than the source allows, and none that the source answers itself
// may reach a service. So a route that takes only some of the calls of its globs
// - is left out if the routes below lead all of its calls to the same upstream and try them as it
//   would, or once;
// - else takes all calls of its globs and tries them once, if no route of the source below leads
//   any of them elsewhere;
// - else is a fault of `source`, as is one whose destination is not known.
// A route that changes its calls tries them once. One that answers itself leads to kNowhere where
// another route would take its calls.
//
// The routes of the draft are in their order, and those without a source stand for calls that no
// route of the source takes. Sets draft.counts, and removes routes, upstreams and policies that
// nothing leads to any more. Where no route is left, one leads all calls to kNowhere.
void FitRoutes(Source& source, Draft& draft);

}  // namespace levee::importer
