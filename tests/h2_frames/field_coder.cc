// SPDX-License-Identifier: Apache-2.0
#include "h2_frames/field_coder.h"

#include <cstdlib>
#include <vector>

namespace levee {
namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

FieldDecoder::FieldDecoder() {
  nghttp2_hd_inflater* inflater = nullptr;
  Check(nghttp2_hd_inflate_new(&inflater) == 0);
  inflater_.reset(inflater);
}

std::optional<HeaderList> FieldDecoder::Decode(std::string_view block) {
  HeaderList fields;
  const auto* at = reinterpret_cast<const uint8_t*>(block.data());
  size_t left = block.size();
  for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
    nghttp2_nv field;
    const ssize_t used = nghttp2_hd_inflate_hd2(inflater_.get(), &field, &flags, at, left, 1);
    if (used < 0) return std::nullopt;
    at += used;
    left -= static_cast<size_t>(used);
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0) continue;
    fields.emplace_back(std::string(reinterpret_cast<char*>(field.name), field.namelen),
                        std::string(reinterpret_cast<char*>(field.value), field.valuelen));
  }
  nghttp2_hd_inflate_end_headers(inflater_.get());
  return fields;
}

void FieldDecoder::SetTableBytes(size_t bytes) {
  Check(nghttp2_hd_inflate_change_table_size(inflater_.get(), bytes) == 0);
}

FieldEncoder::FieldEncoder() {
  nghttp2_hd_deflater* deflater = nullptr;
  Check(nghttp2_hd_deflate_new(&deflater, 4096) == 0);
  deflater_.reset(deflater);
}

std::string FieldEncoder::Encode(const HeaderList& fields) {
  std::vector<nghttp2_nv> nva;
  for (const auto& [name, value] : fields) {
    // It only reads the bytes, whatever its signature says.
    const auto bytes = [](const std::string& text) {
      return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
    };
    nva.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  std::string block(nghttp2_hd_deflate_bound(deflater_.get(), nva.data(), nva.size()), '\0');
  const ssize_t size =
      nghttp2_hd_deflate_hd(deflater_.get(), reinterpret_cast<uint8_t*>(block.data()), block.size(),
                            nva.data(), nva.size());
  Check(size >= 0);
  block.resize(static_cast<size_t>(size));
  return block;
}

}  // namespace levee
