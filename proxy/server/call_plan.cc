// SPDX-License-Identifier: Apache-2.0
#include "server/call_plan.h"

namespace levee {

std::shared_ptr<WaitingRetries> Destination::LineOf(const std::shared_ptr<RetryBudget>& budget,
                                                    int worker, WaitingPlaces& places) {
  std::shared_ptr<WaitingRetries> line;
  std::erase_if(waiting, [&](const std::weak_ptr<WaitingRetries>& other) {
    const std::shared_ptr<WaitingRetries> known = other.lock();
    if (known != nullptr && &known->budget() == budget.get()) line = known;
    return known == nullptr;
  });
  if (line == nullptr) {
    line = std::make_shared<WaitingRetries>(budget, worker, places);
    waiting.push_back(line);
  }
  return line;
}

}  // namespace levee
