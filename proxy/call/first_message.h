// SPDX-License-Identifier: Apache-2.0
// The first gRPC message of a request, as far as calls are compared by it.
#pragma once

#include <optional>
#include <span>

#include "base/chunk.h"
#include "policy/failed_calls.h"

namespace levee {

// Reads it from the beginning of a request's body, with its five-byte prefix. `ended`: the body has
// nothing more. Returns nullopt while more bytes are needed: all of the message, or the first 4 KiB
// of it. A body that ends before its message does is compared as far as it goes.
std::optional<FirstMessage> ReadFirstMessage(std::span<const Chunk> body, bool ended);

}  // namespace levee
