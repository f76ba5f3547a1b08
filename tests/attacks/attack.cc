// SPDX-License-Identifier: Apache-2.0
// Attacks a proxy for a while, beside an honest caller; tests/attacks/run starts it.
//
// usage: attack NAME PORT SECONDS [CERTIFICATES]
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "attacks/attacks.h"
#include "attacks/harm.h"

namespace {

constexpr int kMostSeconds = 60;

}  // namespace

// Prints how many connections it made and how many bytes were taken from it.
int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fprintf(stderr, "usage: attack NAME PORT SECONDS [CERTIFICATES]\n");
    return 2;
  }
  const levee::NamedAttack* attack = nullptr;
  for (const auto attacks : {levee::Attacks(), levee::HarmAttacks()}) {
    for (const levee::NamedAttack& each : attacks) {
      if (each.name == std::string_view(argv[1])) attack = &each;
    }
  }
  if (attack == nullptr) {
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
  std::signal(SIGPIPE, SIG_IGN);  // A victim may close its end.
  while (true) attack->run(target);
}
