// Returns the text of a scrape of metrics.
#pragma once

#include <string>
#include <string_view>

#include "prometheus/collectable.h"
#include "prometheus/text_serializer.h"

namespace levee {

// The whole text, as Prometheus gets it.
inline std::string ScrapeText(const prometheus::Collectable& metrics) {
  return prometheus::TextSerializer().Serialize(metrics.Collect());
}

// The value of one series, given as it stands in the text: name{label="value",...}. "absent" if it
// is not there.
inline std::string Scraped(const prometheus::Collectable& metrics, std::string_view series) {
  const std::string text = "\n" + ScrapeText(metrics);
  const std::string start = "\n" + std::string(series) + " ";
  const size_t at = text.find(start);
  if (at == std::string::npos) return "absent";
  const size_t value = at + start.size();
  return text.substr(value, text.find('\n', value) - value);
}

}  // namespace levee
