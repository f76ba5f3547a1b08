// The nghttp2 side of Session: what the library calls.
#pragma once

struct nghttp2_session_callbacks;

namespace levee::h2 {

// The one table of callbacks, for every session; each gets its Session as user data. Never freed.
const nghttp2_session_callbacks* SessionCallbacks();

}  // namespace levee::h2
