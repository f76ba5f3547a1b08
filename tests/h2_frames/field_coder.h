// SPDX-License-Identifier: Apache-2.0
// HPACK by nghttp2, a peer that owes nothing to Levee's own.
#pragma once

#include <nghttp2/nghttp2.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "h2_frames/frames.h"

namespace levee {

// One direction of one connection: every block must be given, in order.
class FieldDecoder {
 public:
  FieldDecoder();

  // Nothing if the block cannot be decoded.
  std::optional<HeaderList> Decode(std::string_view block);

  // The SETTINGS_HEADER_TABLE_SIZE that was announced. Fails a block that does not heed it.
  void SetTableBytes(size_t bytes);

 private:
  struct Delete {
    void operator()(nghttp2_hd_inflater* inflater) const { nghttp2_hd_inflate_del(inflater); }
  };
  std::unique_ptr<nghttp2_hd_inflater, Delete> inflater_;
};

// One direction of one connection. Uses the dynamic table and Huffman codes.
class FieldEncoder {
 public:
  FieldEncoder();

  std::string Encode(const HeaderList& fields);

 private:
  struct Delete {
    void operator()(nghttp2_hd_deflater* deflater) const { nghttp2_hd_deflate_del(deflater); }
  };
  std::unique_ptr<nghttp2_hd_deflater, Delete> deflater_;
};

}  // namespace levee
