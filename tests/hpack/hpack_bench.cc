// SPDX-License-Identifier: Apache-2.0
// The cost of the header block of a gRPC request, beside another library: to write it, and to write
// and read it.
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "benchmark/benchmark.h"
#include "hpack/decoder.h"
#include "hpack/encoder.h"
#include "nghttp2/nghttp2.h"
#include "wire/metadata.h"

namespace levee::hpack {
namespace {

using Block = std::array<uint8_t, 4096>;

// Requests to one method that differ in the time that is left, as those of one caller do.
std::vector<Metadata> Requests(int metadata_fields) {
  std::vector<Metadata> requests(1021);
  for (size_t i = 0; i < requests.size(); ++i) {
    Metadata& head = requests[i];
    head.Add(":method", "POST");
    head.Add(":scheme", "http");
    head.Add(":path", "/levee.demo.v1.Shop/AddItem");
    head.Add(":authority", "shop.default.svc.cluster.local:50051");
    head.Add("te", "trailers");
    head.Add("content-type", "application/grpc");
    head.Add("user-agent", "grpc-c++/1.51.1 grpc-c/29.0.0 (linux; chttp2)");
    head.Add("grpc-accept-encoding", "identity, deflate, gzip");
    head.Add("grpc-timeout", std::to_string(900'000 + i) + "u");
    for (int field = 0; field < metadata_fields; ++field) {
      head.Add("x-metadata-" + std::to_string(field), "value-of-field-" + std::to_string(field));
    }
  }
  return requests;
}

class Counter final : public FieldSink {
 public:
  bool OnField(const DecodedField& field) override {
    fields += field.well_formed() ? 1 : 0;
    benchmark::DoNotOptimize(field.value.data());
    return true;
  }
  size_t fields = 0;
};

struct OwnDecoder {
  size_t Decode(ByteSpan block) {
    Counter counter;
    LEVEE_CHECK(decoder.Decode(block, counter));
    return counter.fields;
  }
  Decoder decoder;
};

struct OwnEncoder {
  size_t Encode(const Metadata& fields, Block& block) {
    return encoder.Encode(fields, block.data());
  }
  Encoder encoder;
};

struct OtherDecoder {
  OtherDecoder() { LEVEE_CHECK(nghttp2_hd_inflate_new(&inflater) == 0); }
  ~OtherDecoder() { nghttp2_hd_inflate_del(inflater); }

  size_t Decode(ByteSpan block) const {
    size_t fields = 0;
    while (true) {
      nghttp2_nv field;
      int flags = 0;
      const ssize_t used =
          nghttp2_hd_inflate_hd2(inflater, &field, &flags, block.data(), block.size(), 1);
      LEVEE_CHECK(used >= 0);
      block = block.subspan(static_cast<size_t>(used));
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) ++fields;
      if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    }
    nghttp2_hd_inflate_end_headers(inflater);
    return fields;
  }
  nghttp2_hd_inflater* inflater = nullptr;
};

struct OtherEncoder {
  OtherEncoder() { LEVEE_CHECK(nghttp2_hd_deflate_new(&deflater, kMaxTableBytes) == 0); }
  ~OtherEncoder() { nghttp2_hd_deflate_del(deflater); }

  size_t Encode(const Metadata& fields, Block& block) const {
    const auto bytes = [](std::string_view text) {
      return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
    };
    std::array<nghttp2_nv, 64> list;
    for (size_t i = 0; i < fields.size(); ++i) {
      const Metadata::Field field = fields[i];
      list[i] = {bytes(field.name), bytes(field.value), field.name.size(), field.value.size(),
                 NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
    }
    const ssize_t size =
        nghttp2_hd_deflate_hd(deflater, block.data(), block.size(), list.data(), fields.size());
    LEVEE_CHECK(size >= 0);
    return static_cast<size_t>(size);
  }
  nghttp2_hd_deflater* deflater = nullptr;
};

template <typename Encoder>
void Encode(benchmark::State& state) {
  const std::vector<Metadata> requests = Requests(static_cast<int>(state.range(0)));
  Encoder encoder;
  Block block;
  size_t next = 0;
  size_t bytes = 0;
  for ([[maybe_unused]] auto _ : state) {
    bytes += encoder.Encode(requests[next], block);
    benchmark::DoNotOptimize(block);
    next = next + 1 == requests.size() ? 0 : next + 1;
  }
  state.counters["bytes"] =
      benchmark::Counter(static_cast<double>(bytes), benchmark::Counter::kAvgIterations);
}

template <typename Encoder, typename Decoder>
void EncodeAndDecode(benchmark::State& state) {
  const std::vector<Metadata> requests = Requests(static_cast<int>(state.range(0)));
  Encoder encoder;
  Decoder decoder;
  Block block;
  size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    const size_t size = encoder.Encode(requests[next], block);
    LEVEE_CHECK(decoder.Decode({block.data(), size}) == requests[next].size());
    next = next + 1 == requests.size() ? 0 : next + 1;
  }
}

// The number of metadata fields.
BENCHMARK_TEMPLATE(Encode, OwnEncoder)->Name("HpackEncode/Levee")->Arg(0)->Arg(8);
BENCHMARK_TEMPLATE(Encode, OtherEncoder)->Name("HpackEncode/nghttp2")->Arg(0)->Arg(8);
BENCHMARK_TEMPLATE(EncodeAndDecode, OwnEncoder, OwnDecoder)
    ->Name("HpackEncodeAndDecode/Levee")
    ->Arg(0)
    ->Arg(8);
BENCHMARK_TEMPLATE(EncodeAndDecode, OtherEncoder, OtherDecoder)
    ->Name("HpackEncodeAndDecode/nghttp2")
    ->Arg(0)
    ->Arg(8);
BENCHMARK_TEMPLATE(EncodeAndDecode, OwnEncoder, OtherDecoder)
    ->Name("HpackEncodeAndDecode/LeveeToNghttp2")
    ->Arg(0)
    ->Arg(8);

}  // namespace
}  // namespace levee::hpack
