// SPDX-License-Identifier: Apache-2.0
// The command `levee capture`: has the system redirect the application's own connections to Levee.
// It runs once, before the application, in its network namespace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace levee {

// As they were given.
struct CaptureOptions {
  std::string ports;
  uint16_t to = 0;
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  std::vector<std::string> excluded;
  std::string backend;  // nft or iptables; empty: nft where it is installed
  bool print = false;
  bool check = false;
  bool remove = false;
};

// Defines the command. `options` must outlive `app`.
Command AddCapture(Command app, CaptureOptions& options);

// Puts the rules in place, for IPv4 and IPv6, or neither; or prints, checks or removes them. Says
// what it did, or on standard error why it did not. Returns the exit code: 0 done, or the rules are
// in place; 1 failed, or they are not; 2 wrong usage.
int RunCapture(const CaptureOptions& options);

}  // namespace levee
