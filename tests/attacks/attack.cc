// SPDX-License-Identifier: Apache-2.0
// Attacks a proxy for a while, beside an honest caller; tests/attacks/run starts it.
//
// usage: attack NAME PORT SECONDS [CERTIFICATES]
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "attacks/attacks.h"

namespace {

constexpr int kMostSeconds = 60;

}  // namespace

// Prints how many connections it made and how many bytes were taken from it.
int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fprintf(stderr, "usage: attack NAME PORT SECONDS [CERTIFICATES]\n");
    return 2;
  }
  const auto attacks = levee::Attacks();
  const auto attack = std::find_if(attacks.begin(), attacks.end(), [&](const auto& each) {
    return each.name == std::string_view(argv[1]);
  });
  if (attack == attacks.end()) {
    std::fprintf(stderr, "there is no attack '%s'\n", argv[1]);
    return 2;
  }
  levee::Target target("127.0.0.1:" + std::string(argv[2]), argc == 5 ? argv[4] : "");
  // A victim that does not read keeps it waiting, so another thread ends it.
  const auto seconds = std::chrono::seconds(std::clamp(std::atoi(argv[3]), 1, kMostSeconds));
  std::thread([seconds, &target] {
    std::this_thread::sleep_for(seconds);
    std::printf("%ld %ld\n", target.connections(), target.bytes());
    std::fflush(stdout);
    _exit(0);
  }).detach();
  while (true) attack->run(target);
}
