// SPDX-License-Identifier: Apache-2.0
// The files of TLS that a configuration names.
#include "config/load_tls.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "certificates/authority.h"
#include "certificates/mounted_secret.h"
#include "config/faults_of.h"
#include "config/room_warnings.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LoadedTlsTest : public ::testing::Test {
 protected:
  std::string Put(const PemPair& pair) const {
    return absl::StrCat("certificate: ", folder_.Write("tls.crt", pair.certificate),
                        ", key: ", folder_.Write("tls.key", pair.key));
  }
  std::string Ca() const { return "ca: " + folder_.Write("ca.pem", authority_.pem()); }

  static std::string Listener(const std::string& tls) {
    return "listeners: [{name: a, address: \"127.0.0.1:1\", tls: {\n" + tls + "}}]\n";
  }
  static std::string Upstream(const std::string& tls, const std::string& endpoint = "authority:") {
    return "upstreams: [{name: anywhere, endpoints: [\"" + endpoint + "\"], tls: {\n" + tls +
           "}}]\n";
  }

  static std::string Store(const std::string& tls, const std::string& node = "redis.shop:6379") {
    return "stores: [{name: a, redis: [\"" + node + "\"], tls: {\n" + tls + "}}]\n";
  }

  const TemporaryFolder folder_;
  const Authority authority_;
};

TEST_F(LoadedTlsTest, NoTlsIsTheDefault) {
  const auto snapshot = SnapshotOf("{}");
  EXPECT_EQ(snapshot->listeners[0].tls, nullptr);
  EXPECT_FALSE(snapshot->upstreams[0].tls.has_value());
}

TEST_F(LoadedTlsTest, FilesAreReadAndJudged) {
  const auto snapshot =
      SnapshotOf(Listener(Put(authority_.Issue())) + Upstream(Ca() + ", server_name: cart.shop"));
  ASSERT_NE(snapshot->listeners[0].tls, nullptr);
  EXPECT_EQ(snapshot->listeners[0].tls->role(), tls::Role::kServer);
  EXPECT_FALSE(snapshot->listeners[0].capture.connect);
  ASSERT_TRUE(snapshot->upstreams[0].tls.has_value());
  EXPECT_EQ(snapshot->upstreams[0].tls->server_name, "cart.shop");
  EXPECT_NE(snapshot->upstreams[0].tls->context->options().trusted, nullptr);
}

TEST_F(LoadedTlsTest, MemoryIsPlannedForCallersWithTlsAndTheirHandshakes) {
  const std::string limits = "limits: {connections: 1000, handshakes: 10}\n";
  const MemoryPlan without = PlanMemory(*SnapshotOf(limits), 128 << 20);
  const MemoryPlan with =
      PlanMemory(*SnapshotOf(Listener(Put(authority_.Issue())) + limits), 128 << 20);
  EXPECT_EQ(without.handshakes, 0);
  EXPECT_EQ(with.handshakes, 10 * 48 * 1024);
  EXPECT_EQ(with.connections - without.connections, 1000 * 16 * 1024);
  EXPECT_EQ(with.sum() - without.sum(), (1000 * 16 + 10 * 48) * 1024);
  EXPECT_THAT(FormatPlan(with, 128 << 20),
              HasSubstr("   0.5 MiB  TLS handshakes with callers (limits.handshakes)\n"));
}

TEST_F(LoadedTlsTest, OtherContentOfAFileIsAnotherConfigurationThatIsConfiguredAlike) {
  const std::string text = Upstream(Ca() + ", " + Put(authority_.Issue()));
  const auto before = SnapshotOf(text);
  EXPECT_EQ(before->sha256, SnapshotOf(text)->sha256);
  Put(authority_.Issue());
  const auto after = SnapshotOf(text);
  EXPECT_NE(after->sha256, before->sha256);
  EXPECT_NE(after->sha256_without_endpoints, before->sha256_without_endpoints);
  EXPECT_EQ(after->upstreams[0].tls, before->upstreams[0].tls);
}

TEST_F(LoadedTlsTest, KeysStayOutOfTheEffectiveConfiguration) {
  const PemPair pair = authority_.Issue();
  const auto snapshot = SnapshotOf(Listener(Put(pair)));
  EXPECT_THAT(snapshot->effective.yaml, HasSubstr(folder_.Path("tls.key")));
  EXPECT_EQ(snapshot->effective.yaml.find("PRIVATE KEY"), std::string::npos);
  EXPECT_EQ(snapshot->effective.json.find("PRIVATE KEY"), std::string::npos);
}

TEST_F(LoadedTlsTest, EachWrongFileHasItsOwnSentence) {
  const auto fault = [&](const PemPair& pair) {
    const std::string files =
        absl::StrCat(" (", folder_.Path("tls.crt"), ", ", folder_.Path("tls.key"), ")");
    std::string text = FaultsOf(Listener(Put(pair)));
    EXPECT_THAT(text, HasSubstr("f:2:14: LV404 listeners[0].tls.certificate: "));
    EXPECT_THAT(text, HasSubstr(files));
    return text;
  };
  const PemPair good = authority_.Issue();
  EXPECT_THAT(fault({"hello", good.key}), HasSubstr("the certificate is not in PEM form"));
  EXPECT_THAT(fault({good.certificate + good.certificate.substr(0, 100), good.key}),
              HasSubstr("the certificate's chain breaks off"));
  EXPECT_THAT(fault({good.certificate, "hello"}), HasSubstr("the key cannot be read"));
  EXPECT_THAT(fault({good.certificate, good.key.substr(0, 100)}),
              HasSubstr("the key cannot be read"));
  EXPECT_THAT(fault({good.certificate, authority_.Issue().key}),
              HasSubstr("the key does not belong to the certificate"));
  EXPECT_THAT(fault(authority_.Issue({.begins_in = -absl::Hours(2), .ends_in = -absl::Hours(1)})),
              HasSubstr("the certificate has expired: it was valid until 20"));
  EXPECT_THAT(fault(authority_.Issue({.begins_in = absl::Hours(1), .ends_in = absl::Hours(2)})),
              HasSubstr("the certificate is not yet valid: it will be from 20"));
}

TEST_F(LoadedTlsTest, AFileOfCasWithoutOneIsAFault) {
  const std::string file = folder_.Write("ca.pem", "hello");
  EXPECT_EQ(FaultsOf(Upstream("ca: " + file)),
            "f:2:5: LV404 upstreams[0].tls.ca: \"" + file + "\" has no certificate in PEM form");
  folder_.Write("ca.pem", authority_.pem().substr(0, 100));
  EXPECT_EQ(FaultsOf(Upstream("ca: " + file)), "f:2:5: LV404 upstreams[0].tls.ca: \"" + file +
                                                   "\" has a certificate that cannot be read");
}

TEST_F(LoadedTlsTest, AFileThatIsNotThereIsAFaultWhereItIsNamed) {
  EXPECT_EQ(FaultsOf(Upstream("ca: /nowhere/ca.pem")),
            "f:2:5: LV401 upstreams[0].tls.ca: \"/nowhere/ca.pem\" cannot be read: No such file or "
            "directory");
}

TEST_F(LoadedTlsTest, ACertificateNeedsAKey) {
  EXPECT_THAT(FaultsOf(Upstream(Ca() + ",\n certificate: " + folder_.Path("tls.crt"))),
              HasSubstr("f:3:15: LV305 upstreams[0].tls.certificate: "));
}

TEST_F(LoadedTlsTest, CallersHaveNamesWhereTheyShowCertificates) {
  constexpr char kRoutes[] =
      "upstreams: [{name: u, endpoints: [\"127.0.0.1:2\"]}]\n"
      "routes: [{match: {listener: a, peer: x}, upstream: u, policy: p}]\n"
      "policies: [{name: p, rate_limit: [{name: l, rate: 1/s, key: [method, peer]}]}]\n";
  const std::string own = Put(authority_.Issue());
  EXPECT_EQ(FaultsOf(kRoutes + Listener(own + ",\n client_" + Ca())), "");
  const std::string faults = FaultsOf(kRoutes + Listener(own));
  EXPECT_THAT(faults, HasSubstr("f:2:38: LV321 routes[0].match.peer: matches no call: "));
  EXPECT_THAT(faults, HasSubstr("f:3:70: LV321 policies[0].rate_limit[0].key[1]: is the same "));
}

TEST_F(LoadedTlsTest, APeerWantsCertificatesThatAreDemanded) {
  const auto warnings = [&](const std::string& demanded) {
    const std::string tls = Put(authority_.Issue()) + ",\n client_" + Ca() + demanded;
    return FormatFaults(CheckConfig({{"f",
                                      "upstreams: [{name: u, endpoints: [\"127.0.0.1:2\"]}]\n"
                                      "routes: [{match: {listener: a, peer: x}, upstream: u}]\n" +
                                          Listener(tls)}},
                                    std::nullopt)
                            .warnings);
  };
  EXPECT_THAT(warnings(""), Not(HasSubstr("LV939")));
  EXPECT_THAT(warnings(", client_certificate: optional"),
              HasSubstr("f:2:38: LV939 routes[0].match.peer: warning: listener a lets callers in"));
}

TEST_F(LoadedTlsTest, ARouteForSomeCallersLeavesTheOthersToTheNextOne) {
  const std::string own = Put(authority_.Issue()) + ",\n client_" + Ca();
  const auto warnings_of = [&](const std::string& routes) {
    const CheckedConfig checked =
        CheckConfig({{"f", "upstreams: [{name: app, endpoints: [\"127.0.0.1:2\"]}]\nroutes:\n" +
                               routes + "policies: [{name: served}]\n" + Listener(own)}},
                    std::nullopt);
    EXPECT_EQ(FormatFaults(checked.faults), "");
    return FormatFaults(checked.warnings);
  };
  const std::string of_shop = "{match: {listener: a, peer: \"spiffe://shop/*\"}, ";
  const std::string web = "{match: {listener: a, peer: \"spiffe://shop/web\"}, ";
  const std::string all = "{match: {listener: a}, ";
  const std::string to = "upstream: app, policy: served}\n";
  EXPECT_THAT(warnings_of("- " + of_shop + to + "- " + all + to), Not(HasSubstr("LV910")));
  EXPECT_THAT(warnings_of("- " + web + to + "- " + of_shop + to + "- " + all + to),
              Not(HasSubstr("LV910")));
  EXPECT_THAT(
      warnings_of("- " + of_shop + to + "- " + web + to),
      HasSubstr("LV910 routes[1]: warning: no call reaches it: f:3:3: routes[0] takes all"));
  EXPECT_THAT(warnings_of("- " + all + to + "- " + of_shop + to), HasSubstr("LV910 routes[1]"));
}

TEST_F(LoadedTlsTest, AnAddressSaysNothingOfWhoShouldBeThere) {
  EXPECT_EQ(FaultsOf(Upstream(Ca(), "10.0.0.1:443")),
            "f:1:59: LV319 upstreams[0].tls: the certificate of \"10.0.0.1:443\" must have a name, "
            "and Levee does not know which; give server_name or subject_alt_names");
  EXPECT_EQ(FaultsOf(Upstream(Ca() + ", server_name: cart.shop", "10.0.0.1:443")), "");
  EXPECT_EQ(FaultsOf(Upstream(Ca() + ", subject_alt_names: [\"uri:spiffe://shop/cart\"]",
                              "unix:/run/cart.sock")),
            "");
  EXPECT_EQ(FaultsOf(Upstream(Ca(), "dns:cart.shop:443")), "");
}

TEST_F(LoadedTlsTest, WarnsOfAKeyThatEverybodyCanReadAndOfServicesThatAreNotVerified) {
  const auto warnings = [](const std::string& text) {
    return FormatFaults(CheckConfig({{"f", text}}, std::nullopt).warnings);
  };
  const std::string text =
      Listener(Put(authority_.Issue())) + Upstream("insecure_skip_verify: true");
  std::filesystem::permissions(folder_.Path("tls.key"), std::filesystem::perms(0644));
  EXPECT_THAT(warnings(text), HasSubstr("LV926 listeners[0].tls.key: warning: "));
  EXPECT_THAT(warnings(text), HasSubstr("LV925 upstreams[0].tls.insecure_skip_verify: warning: "));
  std::filesystem::permissions(folder_.Path("tls.key"), std::filesystem::perms(0640));
  EXPECT_EQ(warnings(text).find("LV926"), std::string::npos);
}

TEST_F(LoadedTlsTest, AStoreHasTheTlsOfAnUpstreamWithoutHttp2) {
  EXPECT_FALSE(SnapshotOf("stores: [{name: a, redis: [\"r:1\"], tls: none}]\n")->stores[0].tls);
  const std::string text =
      Store(Ca() + ", " + Put(authority_.Issue()) + ", server_name: redis.shop");
  const auto snapshot = SnapshotOf(text);
  const auto& tls = snapshot->stores[0].tls;
  ASSERT_TRUE(tls.has_value());
  EXPECT_EQ(tls->server_name, "redis.shop");
  EXPECT_NE(tls->context->options().trusted, nullptr);
  EXPECT_LT(tls->context->expires(), absl::InfiniteFuture());
  EXPECT_FALSE(tls->context->options().http2);
  Put(authority_.Issue());  // A new certificate in the same files.
  const auto renewed = SnapshotOf(text);
  EXPECT_NE(renewed->sha256, snapshot->sha256);
  EXPECT_EQ(renewed->stores[0], snapshot->stores[0]);
}

TEST_F(LoadedTlsTest, AStoresTlsIsJudgedAsAnUpstreams) {
  EXPECT_EQ(FaultsOf(Store(Ca(), "10.0.0.1:6379")),
            "f:1:46: LV319 stores[0].tls: the certificate of \"10.0.0.1:6379\" must have a name, "
            "and Levee does not know which; give server_name or subject_alt_names");
  EXPECT_EQ(FaultsOf(Store(Ca() + ", server_name: redis.shop", "10.0.0.1:6379")), "");
  EXPECT_THAT(FaultsOf(Store("certificate: /a")), HasSubstr("LV305 stores[0].tls.certificate: "));
  EXPECT_THAT(FaultsOf(Store("key: /a")), HasSubstr("LV305 stores[0].tls.key: "));
  EXPECT_THAT(FaultsOf(Store("ca: /nonexistent")), HasSubstr("LV401 stores[0].tls.ca: "));
  const auto warnings = [](const std::string& text) {
    return FormatFaults(CheckConfig({{"f", text}}, std::nullopt).warnings);
  };
  EXPECT_THAT(warnings(Store("insecure_skip_verify: true")),
              HasSubstr("LV925 stores[0].tls.insecure_skip_verify: warning: any certificate is "
                        "accepted, so what the store keeps may go to anybody"));
}

TEST_F(LoadedTlsTest, NodesThatAreFoundAreKnownByAddressesUsually) {
  const auto warned = [](const std::string& text) {
    const CheckedConfig checked = CheckConfig({{"f", text}}, std::nullopt);
    EXPECT_EQ(FormatFaults(checked.faults), "");
    return FormatFaults(checked.warnings).find("LV940") != std::string::npos;
  };
  const std::string sentinel = "stores: [{name: a, sentinel: {master: m, nodes: [\"s:1\"]}, tls: {";
  EXPECT_TRUE(warned(sentinel + Ca() + "}}]\n"));
  EXPECT_TRUE(warned(Store(Ca(), "a:1\", \"b:1")));
  EXPECT_FALSE(warned(sentinel + Ca() + ", server_name: redis.shop}}]\n"));
  EXPECT_FALSE(warned(sentinel + "insecure_skip_verify: true}}]\n"));
  EXPECT_FALSE(warned(Store(Ca())));
}

// Of a Workload API that has given the SVID, or nothing.
struct WorkloadApiTest : public LoadedTlsTest {
  CheckedConfig Check(const std::string& text) {
    const std::string file = folder_.Write("levee.yaml", text);
    return CheckConfig({.files = {file}, .to = {}, .svids = [this](const std::string& socket) {
                          asked_.push_back(socket);
                          return svid_;
                        }});
  }
  std::shared_ptr<const Snapshot> Snap(const std::string& text) {
    const CheckedConfig checked = Check(text);
    EXPECT_EQ(FormatFaults(checked.faults), "");
    return checked.snapshot;
  }
  void Give(const Authority::Wanted& wanted = {.names = {"spiffe://shop/cart"}}) {
    auto svid = std::make_shared<tls::Svid>();
    const PemPair pair = authority_.Issue(wanted);
    svid->id = "spiffe://shop/cart";
    svid->credentials = {pair.certificate, pair.key};
    svid->bundle = authority_.pem();
    svid_ = svid;
  }

  static constexpr char kSpiffe[] = "spiffe: 'unix:///agent.sock'";
  std::shared_ptr<const tls::Svid> svid_;
  std::vector<std::string> asked_;
};

// A secret is replaced while a configuration is read that names it before and after a Workload API.
struct ReplacedSecretTest : public WorkloadApiTest {
  void Replace(const std::string& name) {
    const PemPair pair = authority_.Issue({.names = {name}});
    secret_.Put(
        {{"ca.crt", authority_.pem()}, {"tls.crt", pair.certificate}, {"tls.key", pair.key}});
  }

  // The second upstream asks the Workload API, and meanwhile the secret is replaced so often.
  std::shared_ptr<const Snapshot> SnapMeanwhile(int replaced) {
    const auto upstream = [](const std::string& name, const std::string& tls) {
      return absl::StrCat("{name: ", name, ", endpoints: ['authority:'], tls: {", tls, "}}");
    };
    const std::string text =
        absl::StrCat("upstreams: [", upstream("anywhere", secret_.Files()), ", ",
                     upstream("b", kSpiffe), ", ", upstream("c", secret_.Files()), "]\n");
    const CheckedConfig checked = CheckConfig(
        {.files = {folder_.Write("levee.yaml", text)}, .to = {}, .svids = [&](const std::string&) {
           if (asks_++ < replaced) Replace(absl::StrCat("replaced-", asks_));
           return nullptr;
         }});
    faults_ = FormatFaults(checked.faults);
    return checked.snapshot;
  }

  MountedSecret secret_{folder_.Path("secret")};
  int asks_ = 0;
  std::string faults_;
};

TEST_F(ReplacedSecretTest, AllItsFilesAreOfOneTime) {
  Replace("before");
  const auto snapshot = SnapMeanwhile(1);
  ASSERT_NE(snapshot, nullptr) << faults_;
  EXPECT_EQ(asks_, 2);
  const auto credentials = [&](size_t upstream) {
    return snapshot->upstreams[upstream].tls->context->options().credentials;
  };
  EXPECT_EQ(credentials(0)->certificate, credentials(2)->certificate);
  EXPECT_EQ(credentials(0)->key, credentials(2)->key);
}

TEST_F(ReplacedSecretTest, OneThatIsReplacedAllTheTimeIsAFault) {
  Replace("before");
  EXPECT_EQ(SnapMeanwhile(1000), nullptr);
  EXPECT_EQ(asks_, 3);
  EXPECT_THAT(faults_, HasSubstr("ca.crt\" cannot be read: No such file or directory"));
}

TEST_F(WorkloadApiTest, AllPartsAskItOnce) {
  Give();
  const auto snapshot = Snap(Listener(kSpiffe) + Upstream(kSpiffe));
  EXPECT_EQ(asked_, std::vector<std::string>{"unix:///agent.sock"});
  EXPECT_EQ(snapshot->workload_apis, asked_);
  for (const tls::Context* context :
       {snapshot->listeners[0].tls.get(), snapshot->upstreams[0].tls->context.get()}) {
    EXPECT_EQ(context->options().trust_domain, "shop");
    EXPECT_NE(context->options().trusted, nullptr);
    EXPECT_LT(context->expires(), absl::InfiniteFuture());
    EXPECT_EQ(context->options().source, "unix:///agent.sock");
    EXPECT_EQ(context->identity(), "spiffe://shop/cart");
  }
}

TEST_F(WorkloadApiTest, AStoreTakesItsCertificateFromThereWithoutHttp2) {
  Give();
  const auto snapshot = Snap(Store(absl::StrCat(kSpiffe, ", server_name: redis.shop")));
  EXPECT_EQ(asked_, std::vector<std::string>{"unix:///agent.sock"});
  EXPECT_EQ(snapshot->workload_apis, asked_);
  const tls::ContextOptions& options = snapshot->stores[0].tls->context->options();
  EXPECT_EQ(options.trust_domain, "shop");
  EXPECT_TRUE(options.credentials.has_value());
  EXPECT_FALSE(options.http2);
}

TEST_F(WorkloadApiTest, AnotherSvidIsAnotherStateOfTheSameConfiguration) {
  Give();
  const auto before = Snap(Upstream(kSpiffe));
  Give();
  const auto after = Snap(Upstream(kSpiffe));
  EXPECT_EQ(after->sha256, before->sha256);
  EXPECT_NE(after->svids_digest, before->svids_digest);
  EXPECT_NE(after->sha256_without_endpoints, before->sha256_without_endpoints);
  EXPECT_EQ(after->upstreams[0].tls, before->upstreams[0].tls);
}

TEST_F(WorkloadApiTest, AConfigurationIsRenewedByAnotherSvidWithoutItsFiles) {
  const std::string listener = Listener(Put(authority_.Issue()));
  const std::string text =
      listener + Upstream(kSpiffe) + Store(absl::StrCat(kSpiffe, ", insecure_skip_verify: true"));
  const CheckedConfig checked = Check(text);
  ASSERT_NE(checked.renew, nullptr);
  Give();
  const auto whole = Snap(text);
  std::filesystem::remove(folder_.path() + "/tls.crt");
  EXPECT_EQ(Check(text).snapshot, nullptr);
  const auto renewed = checked.renew();
  EXPECT_EQ(renewed->sha256, whole->sha256);
  EXPECT_EQ(renewed->svids_digest, whole->svids_digest);
  EXPECT_EQ(renewed->sha256_without_endpoints, whole->sha256_without_endpoints);
  EXPECT_EQ(renewed->workload_apis, whole->workload_apis);
  EXPECT_EQ(renewed->listeners[0].tls, checked.snapshot->listeners[0].tls);
  EXPECT_EQ(renewed->upstreams[0].tls, whole->upstreams[0].tls);
  EXPECT_EQ(renewed->upstreams[0].tls->context->identity(), "spiffe://shop/cart");
  EXPECT_NE(renewed->upstreams[0].tls->context->options().trusted, nullptr);
  EXPECT_EQ(renewed->stores[0].tls->context->identity(), "spiffe://shop/cart");
  EXPECT_EQ(renewed->stores[0].tls->context->options().trusted, nullptr);
  EXPECT_FALSE(renewed->stores[0].tls->context->options().http2);
}

TEST_F(WorkloadApiTest, OnlyAConfigurationThatNamesOneIsRenewed) {
  EXPECT_EQ(Check(Listener(Put(authority_.Issue()))).renew, nullptr);
}

TEST_F(WorkloadApiTest, WithoutAnSvidThatHoldsNowConnectionsWait) {
  const auto before = Snap(Listener(kSpiffe) + Upstream(kSpiffe));
  EXPECT_THAT(before->listeners[0].tls->options().waits_for,
              HasSubstr("the Workload API at unix:///agent.sock has given no certificate"));
  Give();
  const auto after = Snap(Listener(kSpiffe) + Upstream(kSpiffe));
  EXPECT_EQ(after->listeners[0].tls->options().waits_for, "");
  EXPECT_NE(after->upstreams[0].tls, before->upstreams[0].tls);  // It connects at once.
  Give({.names = {"spiffe://shop/cart"}, .ends_in = -absl::Minutes(1)});
  EXPECT_THAT(Snap(Upstream(kSpiffe))->upstreams[0].tls->context->options().waits_for,
              HasSubstr("has given no certificate that can be used: the certificate has expired"));
}

TEST_F(WorkloadApiTest, FilesBesideItAreRefusedAndNoneIsNot) {
  EXPECT_EQ(FaultsOf(Upstream("spiffe: 'unix:/a', ca: system")),
            "f:2:9: LV304 upstreams[0].tls.spiffe: excludes ca, given too; use one or the other");
  EXPECT_EQ(
      FaultsOf(Listener("spiffe: 'unix:/a', certificate: /a, key: /a, client_ca: /a")),
      "f:2:9: LV304 listeners[0].tls.spiffe: excludes certificate, key, client_ca, given too; "
      "use one or the other");
  EXPECT_EQ(FaultsOf(Listener("spiffe: none, " + Put(authority_.Issue()))), "");
  EXPECT_THAT(FaultsOf(Listener("spiffe: none")), HasSubstr("tls.certificate: is missing"));
  EXPECT_EQ(FaultsOf(Listener("spiffe: 'unix:/a', client_certificate: optional")), "");
}

TEST_F(WorkloadApiTest, ASocketHasAnAbsolutePathThatFits) {
  EXPECT_EQ(FaultsOf(Upstream("spiffe: /run/agent.sock")),
            "f:2:9: LV224 upstreams[0].tls.spiffe: \"/run/agent.sock\" is not the path of a Unix "
            "socket; say unix:///run/spire/agent.sock");
  EXPECT_THAT(FaultsOf(Upstream("spiffe: 'unix:run/agent.sock'")), HasSubstr("LV224"));
  EXPECT_THAT(FaultsOf(Upstream("spiffe: 'unix:///'")), HasSubstr("LV224"));
  EXPECT_THAT(FaultsOf(Upstream("spiffe: 'unix://run/agent.sock'")), HasSubstr("LV224"));
  EXPECT_THAT(FaultsOf(Listener("spiffe: 'unix:/" + std::string(107, 'x') + "'")),
              HasSubstr("a path of 108 bytes"));
  for (const char* const same : {"unix:/agent.sock", "unix:////agent.sock"}) {
    asked_.clear();
    Snap(Upstream(absl::StrCat("spiffe: '", same, "'")));
    EXPECT_EQ(asked_, std::vector<std::string>{"unix:///agent.sock"});
  }
}

TEST_F(WorkloadApiTest, WhatIsThereInsteadOfASocketIsAWarning) {
  const auto warnings = [&](const std::string& text) { return FormatFaults(Check(text).warnings); };
  const std::string file = folder_.Write("agent.sock", "");
  EXPECT_THAT(warnings(Listener("spiffe: 'unix://" + file + "'")),
              HasSubstr("LV933 listeners[0].tls.spiffe: warning: \"" + file +
                        "\" exists and is not a socket"));
  const std::string unnamed = warnings(Upstream(kSpiffe));
  EXPECT_THAT(unnamed, HasSubstr("LV934 upstreams[0].tls.spiffe"));
  EXPECT_EQ(unnamed.find("LV933"), std::string::npos);
  EXPECT_EQ(warnings(Upstream(std::string(kSpiffe) + ", server_name: cart.shop")).find("LV934"),
            std::string::npos);
}

TEST_F(WorkloadApiTest, TheEffectiveConfigurationMeansTheSameAndHasNoKey) {
  Give();
  const auto snapshot = Snap(Listener(kSpiffe) + Upstream(kSpiffe));
  EXPECT_EQ(Snap(snapshot->effective.yaml)->sha256, snapshot->sha256);
  EXPECT_EQ(snapshot->effective.yaml.find("PRIVATE KEY"), std::string::npos);
}

}  // namespace
}  // namespace levee
