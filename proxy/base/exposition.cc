// SPDX-License-Identifier: Apache-2.0
#include "base/exposition.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "base/text.h"

namespace levee {
namespace {

// Reads `name{label="value",...} value` from its beginning to its end.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  std::optional<MetricSample> Read() {
    MetricSample sample;
    sample.name = Word();
    if (sample.name.empty()) return std::nullopt;
    if (Take('{') && !ReadLabels(sample.labels)) return std::nullopt;
    SkipSpaces();
    // A timestamp may follow the value.
    const std::string_view value = rest_.substr(0, rest_.find(' '));
    if (!absl::SimpleAtod(Abseil(value), &sample.value)) return std::nullopt;
    return sample;
  }

 private:
  bool ReadLabels(MetricLabels& labels) {
    while (!Take('}')) {
      SkipSpaces();
      std::string name(Word());
      std::string value;
      if (name.empty() || !Take('=') || !ReadQuoted(value)) return false;
      labels.insert_or_assign(std::move(name), std::move(value));
      SkipSpaces();
      Take(',');
    }
    return true;
  }

  bool ReadQuoted(std::string& text) {
    if (!Take('"')) return false;
    while (!rest_.empty() && rest_.front() != '"') {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '\\' && !rest_.empty()) {
        c = rest_.front() == 'n' ? '\n' : rest_.front();
        rest_.remove_prefix(1);
      }
      text.push_back(c);
    }
    return Take('"');
  }

  // The name of a metric or of a label; empty if another character comes first.
  std::string_view Word() {
    size_t size = 0;
    while (size < rest_.size()) {
      const auto c = static_cast<unsigned char>(rest_[size]);
      if (!absl::ascii_isalnum(c) && c != '_' && c != ':') break;
      ++size;
    }
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void SkipSpaces() {
    while (Take(' ') || Take('\t')) {
    }
  }

  std::string_view rest_;
};

}  // namespace

std::string_view LabelOf(const MetricLabels& labels, const std::string& name) {
  const auto found = labels.find(name);
  return found == labels.end() ? std::string_view() : found->second;
}

std::vector<MetricSample> ReadExposition(std::string_view text) {
  std::vector<MetricSample> samples;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::optional<MetricSample> sample = LineReader(line).Read();
    if (sample.has_value()) samples.push_back(*std::move(sample));
  }
  return samples;
}

}  // namespace levee
