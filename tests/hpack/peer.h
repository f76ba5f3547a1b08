// SPDX-License-Identifier: Apache-2.0
// HPACK of another library, as the peer of Levee's.
#pragma once

#include <memory>
#include <optional>

#include "hpack/run.h"
#include "nghttp2/nghttp2.h"

namespace levee::hpack {

class PeerDecoder {
 public:
  PeerDecoder();

  // All fields of the block, nullopt if it has a compression error.
  std::optional<Fields> Decode(ByteSpan block);

  // A smaller table must be said by the next block.
  void SetMaxTableBytes(size_t bytes);

 private:
  std::unique_ptr<nghttp2_hd_inflater, decltype(&nghttp2_hd_inflate_del)> inflater_;
};

class PeerEncoder {
 public:
  PeerEncoder();

  Bytes Encode(const Fields& fields);
  void SetMaxTableBytes(size_t bytes);

 private:
  std::unique_ptr<nghttp2_hd_deflater, decltype(&nghttp2_hd_deflate_del)> deflater_;
};

}  // namespace levee::hpack
