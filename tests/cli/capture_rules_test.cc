// SPDX-License-Identifier: Apache-2.0
// The rules of `levee capture`, as text.
#include "cli/capture_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CaptureRules Rules(const std::string& ports, const std::vector<std::string>& excluded = {}) {
  CaptureRules rules = {.ports = ParsePorts(ports).value(), .to = 9470, .uid = 65532};
  for (const std::string& text : excluded) rules.excluded.push_back(ParseNetwork(text).value());
  return rules;
}

TEST(CaptureRules, PortsThatTouchAreOneRange) {
  EXPECT_THAT(IptablesRules(Rules("9091-9099,50051,9090,9095,9100"), IpFamily::kV4).back(),
              HasSubstr("--dports 9090:9100,50051 "));
  for (const char* text : {"", "0", "65536", "9-8", "9-", "-9", "a", "1,,2", "1 2", "1-2-3"}) {
    EXPECT_FALSE(ParsePorts(text).ok()) << text;
  }
}

TEST(CaptureRules, NetworksHaveNoBitsBelowTheirPrefix) {
  const auto written = [](const char* text) {
    const Network network = ParseNetwork(text).value();
    return network.address + "/" + std::to_string(network.prefix);
  };
  EXPECT_EQ(written("10.1.2.3/8"), "10.0.0.0/8");
  EXPECT_EQ(written("10.1.2.3/31"), "10.1.2.2/31");
  EXPECT_EQ(written("10.1.2.3"), "10.1.2.3/32");
  EXPECT_EQ(written("0.0.0.0/0"), "0.0.0.0/0");
  EXPECT_EQ(written("fd00:1::ffff/20"), "fd00::/20");
  EXPECT_EQ(written("FD00::7"), "fd00::7/128");
  EXPECT_EQ(written("::/0"), "::/0");
  for (const char* text : {"", "10.0.0.0/33", "fd00::/129", "10.0.0/8", "10.0.0.0/", "a/8"}) {
    EXPECT_FALSE(ParseNetwork(text).ok()) << text;
  }
}

TEST(CaptureRules, AnNftTablePassesLeveeTheLoopbackInterfaceAndWhatIsExcluded) {
  CaptureRules rules = Rules("50051,9090-9099", {"10.1.2.3/8", "fd00::7"});
  rules.gid = 7;
  EXPECT_EQ(NftTable(rules),
            "table inet levee {\n"
            "\tchain output {\n"
            "\t\ttype nat hook output priority -100; policy accept;\n"
            "\t\tmeta skuid 65532 return\n"
            "\t\tmeta skgid 7 return\n"
            "\t\toifname \"lo\" return\n"
            "\t\tip daddr 10.0.0.0/8 return\n"
            "\t\tip6 daddr fd00::7 return\n"
            "\t\ttcp dport 9090-9099 redirect to :9470\n"
            "\t\ttcp dport 50051 redirect to :9470\n"
            "\t}\n"
            "}\n");
}

TEST(CaptureRules, EachFamilyOfIptablesHasItsOwnNetworks) {
  const CaptureRules rules = Rules("50051", {"10.0.0.0/8", "fd00::/8"});
  EXPECT_THAT(
      IptablesRules(rules, IpFamily::kV6),
      ElementsAre("-A OUTPUT -p tcp -j LEVEE", "-A LEVEE -m owner --uid-owner 65532 -j RETURN",
                  "-A LEVEE -o lo -j RETURN", "-A LEVEE -d fd00::/8 -j RETURN",
                  "-A LEVEE -p tcp -m multiport --dports 50051 -j REDIRECT --to-ports 9470"));
  EXPECT_THAT(IptablesRules(rules, IpFamily::kV4)[3], "-A LEVEE -d 10.0.0.0/8 -j RETURN");
}

TEST(CaptureRules, ARuleOfIptablesHasAtMostFifteenPortsAndARangeIsTwo) {
  std::string singles = "1";
  for (int port = 3; port <= 31; port += 2) singles += "," + std::to_string(port);
  auto lines = IptablesRules(Rules(singles), IpFamily::kV4);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[3], HasSubstr("--dports 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29 "));
  EXPECT_THAT(lines[4], HasSubstr("--dports 31 "));
  std::string ranges = "1-2";
  for (int port = 11; port <= 71; port += 10) {
    ranges += "," + std::to_string(port) + "-" + std::to_string(port + 1);
  }
  lines = IptablesRules(Rules(ranges), IpFamily::kV4);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[3], HasSubstr("--dports 1:2,11:12,21:22,31:32,41:42,51:52,61:62 "));
  EXPECT_THAT(lines[4], HasSubstr("--dports 71:72 "));
}

TEST(CaptureRules, RulesOfOthersAreNotLevees) {
  EXPECT_THAT(OwnRules("*nat\n:LEVEE - [0:0]\n-A OUTPUT -p tcp -j LEVEE\n-A OUTPUT -j OTHER\n"
                       "-A LEVEE -o lo -j RETURN\n-A LEVEES -j RETURN\nCOMMIT\n"),
              ElementsAre("-A OUTPUT -p tcp -j LEVEE", "-A LEVEE -o lo -j RETURN"));
  EXPECT_THAT(OwnRules(""), IsEmpty());
}

TEST(CaptureRules, AScriptTakesTheJumpAwayThatIsThere) {
  const auto rules = IptablesRules(Rules("1"), IpFamily::kV4);
  EXPECT_THAT(IptablesScript({}, rules), testing::Not(HasSubstr("-D OUTPUT")));
  EXPECT_THAT(IptablesScript(rules, rules),
              HasSubstr("-D OUTPUT -p tcp -j LEVEE\n-A OUTPUT -p tcp -j LEVEE\n"));
  EXPECT_EQ(IptablesScript(rules, {}),
            "*nat\n:LEVEE - [0:0]\n-D OUTPUT -p tcp -j LEVEE\n-X LEVEE\nCOMMIT\n");
}

}  // namespace
}  // namespace levee
