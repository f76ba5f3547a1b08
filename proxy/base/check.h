// SPDX-License-Identifier: Apache-2.0
// Invariants that stay on in production.
#pragma once

namespace levee {

// Prints the failed condition and its place to stderr, then aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace levee

// Ends the process if `condition` is false. For broken invariants of our own only, never for bytes
// that came from a peer or a user.
#define LEVEE_CHECK(condition)                         \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::levee::CheckFailed(#condition, __FILE__, __LINE__))

// As LEVEE_CHECK, in builds with assertions only (those of the sanitizers): for invariants on the
// path of every call.
#ifdef NDEBUG
#define LEVEE_DEBUG_CHECK(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#define LEVEE_DEBUG_CHECK(condition) LEVEE_CHECK(condition)
#endif
