// SPDX-License-Identifier: Apache-2.0
// Bytes that a connection has read and its session has not taken, since a turn may make no more.
#pragma once

#include "base/chunk.h"
#include "base/intrusive_list.h"

namespace levee {

class Http2Connection;

// In WorkerIo's list while it has bytes. The connection reads nothing more meanwhile, so these are
// of one read.
struct HeldInput : ListLink<HeldInput> {
  explicit HeldInput(Http2Connection& of) : connection(of) {}

  Http2Connection& connection;
  Chunk bytes;
};

}  // namespace levee
