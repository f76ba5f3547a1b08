// SPDX-License-Identifier: Apache-2.0
// The firewall rules that redirect an application's own connections to Levee, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace levee {

enum class IpFamily { kV4, kV6 };

// The ports from `first` to `last`, both included.
struct PortRange {
  uint16_t first = 0;
  uint16_t last = 0;
};

// A network whose bits below its prefix are 0.
struct Network {
  IpFamily family = IpFamily::kV4;
  std::string address;  // as the system writes it
  int prefix = 0;       // in bits
};

// Which connections are redirected: of TCP, that begin on this host and leave it.
struct CaptureRules {
  std::vector<PortRange> ports;   // to these ports; at least one
  uint16_t to = 0;                // the port on this host that gets them
  std::optional<uint32_t> uid;    // but not those of this user
  std::optional<uint32_t> gid;    // nor of this group; one of the two is given
  std::vector<Network> excluded;  // nor to these networks
};

// Parses "50051,9090-9099": ports from 1 on. Ranges that touch become one.
absl::StatusOr<std::vector<PortRange>> ParsePorts(const std::string& text);

// Parses "10.0.0.0/8", "fd00::/8", or a single address.
absl::StatusOr<Network> ParseNetwork(const std::string& text);

// Returns the table `inet levee` as `nft -nn list table inet levee` prints it.
std::string NftTable(const CaptureRules& rules);

// Returns what `nft -f -` reads in order to have the table `table`, whether there was one or not;
// "": to have none. It changes everything or nothing.
std::string NftScript(const std::string& table);

// Returns the rules of one family, a line each, as `iptables-save -t nat` prints them.
std::vector<std::string> IptablesRules(const CaptureRules& rules, IpFamily family);

// Returns those of the lines that iptables-save has printed that are Levee's.
std::vector<std::string> OwnRules(std::string_view saved);

// Returns what iptables-restore, with --noflush, reads in order to have `rules` instead of
// `present`; an empty list: no rules. Each is all of Levee's rules of one family. Rules of others
// stay.
std::string IptablesScript(const std::vector<std::string>& present,
                           const std::vector<std::string>& rules);

}  // namespace levee
