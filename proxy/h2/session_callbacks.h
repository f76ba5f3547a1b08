// The nghttp2 side of Session: what the library calls.
#pragma once

struct nghttp2_session_callbacks;

namespace levee::h2 {

// The table of callbacks for sessions of that role; each gets its Session as user data. Never
// freed.
const nghttp2_session_callbacks* SessionCallbacks(bool client);

}  // namespace levee::h2
