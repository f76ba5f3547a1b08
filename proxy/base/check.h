// SPDX-License-Identifier: Apache-2.0
// Checks of invariants.
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

// The same in builds with assertions, which those of the sanitizers are. For invariants that would
// cost too much to check in production, where `condition` is not evaluated.
#ifdef NDEBUG
#define LEVEE_DCHECK(condition) static_cast<void>(false && static_cast<bool>(condition))
#else
#define LEVEE_DCHECK(condition) LEVEE_CHECK(condition)
#endif
