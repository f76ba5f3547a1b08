// SPDX-License-Identifier: Apache-2.0
#include "hpack/peer.h"

#include "base/check.h"

namespace levee::hpack {
namespace {

nghttp2_hd_inflater* MakeInflater() {
  nghttp2_hd_inflater* inflater = nullptr;
  LEVEE_CHECK(nghttp2_hd_inflate_new(&inflater) == 0);
  return inflater;
}

nghttp2_hd_deflater* MakeDeflater() {
  nghttp2_hd_deflater* deflater = nullptr;
  LEVEE_CHECK(nghttp2_hd_deflate_new(&deflater, kMaxTableBytes) == 0);
  return deflater;
}

std::string Text(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

PeerDecoder::PeerDecoder() : inflater_(MakeInflater(), nghttp2_hd_inflate_del) {}

std::optional<Fields> PeerDecoder::Decode(ByteSpan block) {
  Fields fields;
  while (true) {
    nghttp2_nv field;
    int flags = 0;
    const ssize_t used =
        nghttp2_hd_inflate_hd2(inflater_.get(), &field, &flags, block.data(), block.size(), 1);
    if (used < 0) return std::nullopt;
    block = block.subspan(static_cast<size_t>(used));
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      fields.push_back({Text(field.name, field.namelen), Text(field.value, field.valuelen),
                        (field.flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0});
    } else if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) {
      nghttp2_hd_inflate_end_headers(inflater_.get());
      return fields;
    }
  }
}

void PeerDecoder::SetMaxTableBytes(size_t bytes) {
  LEVEE_CHECK(nghttp2_hd_inflate_change_table_size(inflater_.get(), bytes) == 0);
}

PeerEncoder::PeerEncoder() : deflater_(MakeDeflater(), nghttp2_hd_deflate_del) {}

Bytes PeerEncoder::Encode(const Fields& fields) {
  const auto bytes = [](const std::string& text) {
    return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
  };
  std::vector<nghttp2_nv> list;
  for (const NameValue& field : fields) {
    const uint8_t flags = field.never_index ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
    list.push_back(
        {bytes(field.name), bytes(field.value), field.name.size(), field.value.size(), flags});
  }
  Bytes block(nghttp2_hd_deflate_bound(deflater_.get(), list.data(), list.size()));
  const ssize_t size =
      nghttp2_hd_deflate_hd(deflater_.get(), block.data(), block.size(), list.data(), list.size());
  LEVEE_CHECK(size >= 0);
  block.resize(static_cast<size_t>(size));
  return block;
}

void PeerEncoder::SetMaxTableBytes(size_t bytes) {
  LEVEE_CHECK(nghttp2_hd_deflate_change_table_size(deflater_.get(), bytes) == 0);
}

}  // namespace levee::hpack
