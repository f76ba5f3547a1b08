// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hpack/table.h"

namespace levee::hpack {

constexpr std::array<StaticField, kStaticFields> kStaticTable = {{
    {":authority", "", FieldKind::kAuthority},
    {":method", "GET", FieldKind::kMethod},
    {":method", "POST", FieldKind::kMethod},
    {":path", "/", FieldKind::kPath},
    {":path", "/index.html", FieldKind::kPath},
    {":scheme", "http", FieldKind::kScheme},
    {":scheme", "https", FieldKind::kScheme},
    {":status", "200", FieldKind::kStatus},
    {":status", "204", FieldKind::kStatus},
    {":status", "206", FieldKind::kStatus},
    {":status", "304", FieldKind::kStatus},
    {":status", "400", FieldKind::kStatus},
    {":status", "404", FieldKind::kStatus},
    {":status", "500", FieldKind::kStatus},
    {"accept-charset", ""},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language", ""},
    {"accept-ranges", ""},
    {"accept", ""},
    {"access-control-allow-origin", ""},
    {"age", ""},
    {"allow", ""},
    {"authorization", ""},
    {"cache-control", ""},
    {"content-disposition", ""},
    {"content-encoding", ""},
    {"content-language", ""},
    {"content-length", "", FieldKind::kContentLength},
    {"content-location", ""},
    {"content-range", ""},
    {"content-type", ""},
    {"cookie", ""},
    {"date", ""},
    {"etag", ""},
    {"expect", ""},
    {"expires", ""},
    {"from", ""},
    {"host", ""},
    {"if-match", ""},
    {"if-modified-since", ""},
    {"if-none-match", ""},
    {"if-range", ""},
    {"if-unmodified-since", ""},
    {"last-modified", ""},
    {"link", ""},
    {"location", ""},
    {"max-forwards", ""},
    {"proxy-authenticate", ""},
    {"proxy-authorization", ""},
    {"range", ""},
    {"referer", ""},
    {"refresh", ""},
    {"retry-after", ""},
    {"server", ""},
    {"set-cookie", ""},
    {"strict-transport-security", ""},
    {"transfer-encoding", "", FieldKind::kConnectionSpecific},
    {"user-agent", ""},
    {"vary", ""},
    {"via", ""},
    {"www-authenticate", ""},
}};

namespace {

// The entries that have one name, which follow each other. `first` 0: an empty slot.
struct Run {
  uint8_t first = 0;
  uint8_t count = 0;
};

constexpr size_t kSlots = 128;

// A hash of the name. Its factors were chosen because they need the shortest searches.
constexpr size_t SlotOf(std::string_view name) {
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(name[at]); };
  return (name.size() * 52 + byte(name.size() / 2) * 41u + byte(name.size() - 1)) % kSlots;
}

// A hash table of the runs. Each is in the first slot, from that of its name on, that was free.
constexpr std::array<Run, kSlots> kRuns = [] {
  std::array<Run, kSlots> runs{};
  for (size_t i = 0; i < kStaticFields; ++i) {
    size_t slot = SlotOf(kStaticTable[i].name);
    while (runs[slot].first != 0 &&
           kStaticTable[runs[slot].first - 1].name != kStaticTable[i].name) {
      slot = (slot + 1) % kSlots;
    }
    if (runs[slot].first == 0) runs[slot].first = static_cast<uint8_t>(i + 1);
    ++runs[slot].count;
  }
  return runs;
}();

// Returns the largest number of slots that a search, for any name, reads before an empty one.
constexpr size_t LongestProbe() {
  size_t longest = 0;
  size_t used = 0;
  for (size_t slot = 0; slot < 2 * kSlots; ++slot) {
    used = kRuns[slot % kSlots].first == 0 ? 0 : used + 1;
    longest = std::max(longest, used);
  }
  return longest;
}
static_assert(LongestProbe() <= 3);

}  // namespace

StaticMatch FindStatic(std::string_view name, std::string_view value) {
  if (name.empty()) return {};
  for (size_t slot = SlotOf(name); kRuns[slot].first != 0; slot = (slot + 1) % kSlots) {
    const Run run = kRuns[slot];
    if (kStaticTable[run.first - 1u].name != name) continue;
    for (uint8_t index = run.first; index < run.first + run.count; ++index) {
      if (kStaticTable[index - 1u].value == value) return {index, run.first};
    }
    return {0, run.first};
  }
  return {};
}

}  // namespace levee::hpack
