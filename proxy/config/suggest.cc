// SPDX-License-Identifier: Apache-2.0
#include "config/suggest.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace levee {
namespace {

// Longer words are never near anything; it bounds the table of Distance.
constexpr size_t kMaxWord = 64;

std::string Plain(const std::string& word) {
  std::string plain;
  for (const char c : word) {
    if (c != '_' && c != '-') plain += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return plain;
}

// Returns the edit distance in which a swap of two neighbours is one step (optimal string
// alignment).
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before, previous, current;
  for (size_t j = 0; j <= b.size(); ++j) current.push_back(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::move(previous);
    previous = std::move(current);
    current = {i};
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current.push_back(std::min({change, previous[j] + 1, current[j - 1] + 1}));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
  }
  return current.back();
}

// Returns the nearest of `known`; "" if none is near enough to have been meant.
std::string Nearest(const std::string& word, const std::vector<std::string>& known) {
  const std::string plain = Plain(word);
  if (plain.size() > kMaxWord) return "";
  std::string nearest;
  // A third of the letters may be wrong, but something must be right.
  size_t best = std::min(std::max<size_t>(1, plain.size() / 3) + 1, plain.size());
  for (const std::string& name : known) {
    if (name.size() > kMaxWord) continue;
    const size_t distance = Distance(plain, Plain(name));
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace

std::string Suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& label) {
  const std::string nearest = Nearest(word, known);
  if (!nearest.empty()) return absl::StrCat("; did you mean ", nearest, "?");
  if (known.empty()) return "";
  const bool all = known.size() <= kMaxListed;
  const auto end = all ? known.end() : known.begin() + kMaxListed;
  return absl::StrCat("; ", label, ": ", absl::StrJoin(known.begin(), end, ", "),
                      all ? "" : ", ...");
}

}  // namespace levee
