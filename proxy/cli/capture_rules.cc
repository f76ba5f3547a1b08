// SPDX-License-Identifier: Apache-2.0
#include "cli/capture_rules.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "config/addresses.h"
#include "net/address.h"

namespace levee {
namespace {

// One rule of iptables has at most this many ports; a range counts as two.
constexpr int kPortsPerRule = 15;

constexpr char kJump[] = "-A OUTPUT -p tcp -j LEVEE";

absl::Status Wrong(std::string_view text, const char* what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", Abseil(text), "\" ", what));
}

bool IsPort(std::string_view text, uint16_t& port) {
  uint32_t number = 0;
  if (!absl::SimpleAtoi(Abseil(text), &number) || number == 0 || number > 65535) return false;
  port = static_cast<uint16_t>(number);
  return true;
}

std::string Joined(const PortRange& range, const char* to) {
  if (range.first == range.last) return absl::StrCat(range.first);
  return absl::StrCat(range.first, to, range.last);
}

int WidthOf(IpFamily family) { return family == IpFamily::kV4 ? 32 : 128; }

// Returns the address with the bits below the prefix 0. IpValue is that of IPv6.
std::string Masked(IpValue value, IpFamily family, int prefix) {
  const int kept = prefix + 128 - WidthOf(family);
  for (int group = 0; group < 8; ++group) {
    const int bits = std::clamp(kept - 16 * group, 0, 16);
    value[static_cast<size_t>(group)] &= static_cast<uint16_t>(0xffff << (16 - bits));
  }
  std::vector<std::string> groups;
  for (const uint16_t group : value) groups.push_back(absl::StrCat(absl::Hex(group)));
  const auto address = net::Address::FromIp(absl::StrJoin(groups, ":"), 1)->Unmapped();
  std::string text = address.ToString();
  text.resize(text.rfind(':'));
  return text.front() == '[' ? text.substr(1, text.size() - 2) : text;
}

// Groups of ports that one rule can have.
std::vector<std::string> PortLists(const std::vector<PortRange>& ports) {
  std::vector<std::string> lists;
  int count = kPortsPerRule;
  for (const PortRange& range : ports) {
    const int more = range.first == range.last ? 1 : 2;
    if (count + more > kPortsPerRule) {
      lists.emplace_back();
      count = 0;
    }
    absl::StrAppend(&lists.back(), count > 0 ? "," : "", Joined(range, ":"));
    count += more;
  }
  return lists;
}

}  // namespace

absl::StatusOr<std::vector<PortRange>> ParsePorts(const std::string& text) {
  std::vector<PortRange> all;
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  for (const std::string& part : parts) {
    const std::pair<std::string, std::string> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    PortRange range;
    const bool one = part.find('-') == std::string::npos;
    if (!IsPort(ends.first, range.first) || !IsPort(one ? ends.first : ends.second, range.last) ||
        range.first > range.last) {
      return Wrong(part, "is neither a port nor a range of ports; say 50051,9090-9099");
    }
    all.push_back(range);
  }
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.first < b.first; });
  std::vector<PortRange> ports;
  for (const PortRange& range : all) {
    if (!ports.empty() && range.first <= ports.back().last + 1) {
      ports.back().last = std::max(ports.back().last, range.last);
    } else {
      ports.push_back(range);
    }
  }
  return ports;
}

absl::StatusOr<Network> ParseNetwork(const std::string& text) {
  const size_t slash = std::min(text.find('/'), text.size());
  const std::string host = text.substr(0, slash);
  const auto value = ReadIp(host);
  if (!value.has_value()) return Wrong(text, "is not a network; say 10.0.0.0/8");
  Network network;
  network.family = host.find(':') == std::string::npos ? IpFamily::kV4 : IpFamily::kV6;
  const int width = WidthOf(network.family);
  network.prefix = width;
  if (slash < text.size() && (!absl::SimpleAtoi(text.substr(slash + 1), &network.prefix) ||
                              network.prefix < 0 || network.prefix > width)) {
    return Wrong(text, "has a prefix that is too long for its address; say 10.0.0.0/8");
  }
  network.address = Masked(*value, network.family, network.prefix);
  return network;
}

std::string NftTable(const CaptureRules& rules) {
  std::string text =
      "table inet levee {\n\tchain output {\n"
      "\t\ttype nat hook output priority -100; policy accept;\n";
  if (rules.uid.has_value()) absl::StrAppend(&text, "\t\tmeta skuid ", *rules.uid, " return\n");
  if (rules.gid.has_value()) absl::StrAppend(&text, "\t\tmeta skgid ", *rules.gid, " return\n");
  absl::StrAppend(&text, "\t\toifname \"lo\" return\n");
  for (const Network& network : rules.excluded) {
    absl::StrAppend(&text, network.family == IpFamily::kV4 ? "\t\tip" : "\t\tip6", " daddr ",
                    network.address);
    if (network.prefix < WidthOf(network.family)) absl::StrAppend(&text, "/", network.prefix);
    absl::StrAppend(&text, " return\n");
  }
  for (const PortRange& range : rules.ports) {
    absl::StrAppend(&text, "\t\ttcp dport ", Joined(range, "-"), " redirect to :", rules.to, "\n");
  }
  return text + "\t}\n}\n";
}

std::string NftScript(const std::string& table) {
  // The first line makes the table, so that the second one finds it.
  return "table inet levee\ndelete table inet levee\n" + table;
}

std::vector<std::string> IptablesRules(const CaptureRules& rules, IpFamily family) {
  std::vector<std::string> lines = {kJump};
  const auto pass = [&lines](const std::string& match) {
    lines.push_back(absl::StrCat("-A LEVEE ", match, " -j RETURN"));
  };
  if (rules.uid.has_value()) pass(absl::StrCat("-m owner --uid-owner ", *rules.uid));
  if (rules.gid.has_value()) pass(absl::StrCat("-m owner --gid-owner ", *rules.gid));
  pass("-o lo");
  for (const Network& network : rules.excluded) {
    if (network.family != family) continue;
    pass(absl::StrCat("-d ", network.address, "/", network.prefix));
  }
  for (const std::string& ports : PortLists(rules.ports)) {
    lines.push_back(absl::StrCat("-A LEVEE -p tcp -m multiport --dports ", ports,
                                 " -j REDIRECT --to-ports ", rules.to));
  }
  return lines;
}

std::vector<std::string> OwnRules(std::string_view saved) {
  std::vector<std::string> own;
  for (const absl::string_view line : absl::StrSplit(Abseil(saved), '\n')) {
    if (line == kJump || absl::StartsWith(line, "-A LEVEE ")) own.emplace_back(line);
  }
  return own;
}

std::string IptablesScript(const std::vector<std::string>& present,
                           const std::vector<std::string>& rules) {
  // A chain that is declared is made, or emptied.
  std::string text = "*nat\n:LEVEE - [0:0]\n";
  for (const std::string& line : present) {
    if (line == kJump) absl::StrAppend(&text, "-D", line.substr(2), "\n");
  }
  for (const std::string& line : rules) absl::StrAppend(&text, line, "\n");
  if (rules.empty()) absl::StrAppend(&text, "-X LEVEE\n");
  return text + "COMMIT\n";
}

}  // namespace levee
