// SPDX-License-Identifier: Apache-2.0
#include "server/guard_lines.h"

namespace levee {

std::shared_ptr<GuardLine> GuardLines::Of(const std::shared_ptr<Guard>& guard) {
  std::erase_if(lines_, [](const auto& line) { return line.expired(); });
  std::shared_ptr<TimedLine> found;
  for (const std::weak_ptr<TimedLine>& known : lines_) {
    const std::shared_ptr<TimedLine> line = known.lock();
    if (&line->line().guard() == guard.get()) found = line;
  }
  if (found == nullptr) {
    found = std::make_shared<TimedLine>(guard, worker_, wheel_);
    lines_.push_back(found);
  }
  return {found, &found->line()};
}

void GuardLines::Look(Instant now) {
  // A call that ends may drop the last plan of a line.
  const std::vector<std::weak_ptr<TimedLine>> lines = lines_;
  for (const std::weak_ptr<TimedLine>& known : lines) {
    if (const std::shared_ptr<TimedLine> line = known.lock()) line->line().Look(now);
  }
}

}  // namespace levee
