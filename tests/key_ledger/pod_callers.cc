// SPDX-License-Identifier: Apache-2.0
#include "key_ledger/pod_callers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bench/loopback.h"
#include "key_ledger/pod_link.h"

namespace levee::ledger {
namespace {

uint16_t PortOf(const std::string& address) {
  return static_cast<uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str()));
}

}  // namespace

PodCallers::PodCallers(Loop& loop, KeyPlan& plan, KeyBook& book, uint64_t seed)
    : loop_(loop), plan_(plan), book_(book), random_(seed) {}

PodCallers::~PodCallers() { HangUp(); }

void PodCallers::Begin(const std::array<std::string, kPods>& addresses) {
  for (size_t i = 0; i < kPods * kLinksPerPod; ++i) {
    const int fd = bench::ConnectToLoopback(PortOf(addresses[i % kPods]));
    if (fd < 0) {
      std::printf("a sidecar refuses a connection\n");
      std::exit(1);
    }
    links_.push_back(std::make_shared<PodLink>(*this, i % kPods, fd));
    links_.back()->Fill();
  }
}

std::optional<KeyCall> PodCallers::Next(size_t pod) {
  while (waiting_[pod].empty() && !planned_all_) {
    const std::vector<KeyCall> block = plan_.NextBlock();
    planned_all_ = block.empty();
    for (const KeyCall& call : block) waiting_[random_.Below(kPods)].push_back(call);
  }
  if (waiting_[pod].empty()) return std::nullopt;
  const KeyCall call = waiting_[pod].front();
  waiting_[pod].pop_front();
  return call;
}

void PodCallers::Again(const KeyCall& call) { waiting_[random_.Below(kPods)].push_back(call); }

bool PodCallers::done() const {
  return planned_all_ && book_.open() == 0 &&
         std::ranges::all_of(waiting_, [](const auto& calls) { return calls.empty(); });
}

void PodCallers::HangUp() {
  while (!links_.empty()) {
    const auto link = links_.back();
    links_.pop_back();
    link->HangUp();
  }
}

}  // namespace levee::ledger
