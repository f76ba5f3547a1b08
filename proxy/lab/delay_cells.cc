// SPDX-License-Identifier: Apache-2.0
#include "lab/delay_cells.h"

#include "absl/strings/str_cat.h"
#include "lab/words.h"

namespace levee {
namespace {

bool HasSlots(const std::vector<DelayRow>& rows) { return rows.front().mean_slots.has_value(); }

}  // namespace

std::vector<std::string> DelayHead(const std::vector<DelayRow>& rows) {
  std::vector<std::string> head = {"n",   "nominal", "bounds",        "mean",
                                   "p50", "p99",     "cumulative p99"};
  if (HasSlots(rows)) head.insert(head.begin() + 1, "mean slots");
  return head;
}

std::vector<std::vector<std::string>> DelayCells(const std::vector<DelayRow>& rows) {
  std::vector<std::vector<std::string>> cells;
  for (const DelayRow& row : rows) {
    const std::string bounds =
        row.min == row.max ? DurationWords(row.min)
                           : absl::StrCat(DurationWords(row.min), " to ", DurationWords(row.max));
    cells.push_back({absl::StrCat(row.n), row.nominal ? DurationWords(*row.nominal) : "-", bounds,
                     DurationWords(row.mean), DurationWords(row.p50), DurationWords(row.p99),
                     DurationWords(row.total_p99)});
    if (HasSlots(rows)) {
      cells.back().insert(cells.back().begin() + 1, NumberWords(*row.mean_slots));
    }
  }
  return cells;
}

}  // namespace levee
