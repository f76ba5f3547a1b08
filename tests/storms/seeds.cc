// SPDX-License-Identifier: Apache-2.0
#include "storms/seeds.h"

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "base/check.h"

namespace levee {
namespace {

uint64_t Number(const char* variable, uint64_t usual) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return usual;
  uint64_t number = 0;
  LEVEE_CHECK(absl::SimpleAtoi(text, &number) && number > 0);
  return number;
}

}  // namespace

uint64_t StormSeeds(uint64_t usual) { return Number("LEVEE_STORM_SEEDS", usual); }
uint64_t PropertySeeds(uint64_t usual) { return Number("LEVEE_PROPERTY_SEEDS", usual); }
uint64_t FirstPropertySeed() { return Number("LEVEE_PROPERTY_FIRST", 1); }

std::optional<CallKind> DescribedKind() {
  const char* const text = std::getenv("LEVEE_DESCRIBED");
  if (text == nullptr) return std::nullopt;
  const bool is_stream = text == CallKindName(CallKind::kStream);
  LEVEE_CHECK(is_stream || text == CallKindName(CallKind::kUnary));
  return is_stream ? CallKind::kStream : CallKind::kUnary;
}

}  // namespace levee
