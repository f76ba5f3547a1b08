// The bounds of what callers and upstreams may take.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace levee {

struct Limits {
  int64_t replay_bytes = 16 << 20;
  int streams_per_connection = 1024;
  int64_t metadata_bytes = 16 << 10;
  int metadata_fields = 100;
  int method_labels = 50;
  int destinations = 1000;
  int metric_series = 20'000;
  int connections = 20'000;
  int resets_per_second = 5000;
  int idle_frames_per_second = 1000;
  int64_t header_block_bytes = 64 << 10;  // at least metadata_bytes
  int pending_frames = 1000;
  int64_t output_bytes = 256 << 20;
  absl::Duration send_timeout = absl::Seconds(60);  // Infinite: none
};

}  // namespace levee
