// SPDX-License-Identifier: Apache-2.0
// A real Prometheus scrapes a running sidecar and is asked what it has seen.
#include <unistd.h>

#include <cctype>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "files/source_path.h"
#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/child.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"

namespace levee {
namespace {

constexpr const char* kPrometheus = "/usr/bin/prometheus";
constexpr const char* kPromtool = "/usr/bin/promtool";

bool HasPrometheus() {
  return std::filesystem::exists(kPrometheus) && std::filesystem::exists(kPromtool);
}

// The bytes of a query as they stand in a URL.
std::string Escaped(const std::string& text) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      escaped += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      escaped += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return escaped;
}

// The body of an answer; empty if there is none yet. Version 1.0, so that it ends with the
// connection.
std::string Get(const std::string& address, const std::string& path) {
  TcpConnection connection(address);
  connection.Send("GET " + path + " HTTP/1.0\r\n\r\n");
  const std::string bytes = connection.ReadAll();
  const size_t end = bytes.find("\r\n\r\n");
  return end == std::string::npos ? "" : bytes.substr(end + 4);
}

// Scrapes one sidecar once a second, which is also how long a scrape may take. Its data goes with
// it.
class Prometheus {
 public:
  explicit Prometheus(const std::string& target)
      : folder_(testing::TempDir() + "levee-prometheus-" + std::to_string(getpid())),
        config_(
            "scrape_configs: [{job_name: levee, scrape_interval: 1s, "
            "scrape_timeout: 1s, static_configs: [{targets: [\"" +
            target + "\"]}]}]"),
        child_(kPrometheus, {"--config.file=" + config_.path(), "--storage.tsdb.path=" + folder_,
                             "--web.listen-address=127.0.0.1:0"}) {
    address_ = Listening();
  }
  ~Prometheus() {
    child_.Signal(SIGKILL);
    child_.WaitForExit();
    std::filesystem::remove_all(folder_);
  }

  // The value of a query that has one; nullopt if it has none yet.
  std::optional<double> Ask(const std::string& query) const {
    const std::string answer = Get(address_, "/api/v1/query?query=" + Escaped(query));
    constexpr std::string_view kValue = R"("value":[)";  // [time,"value"]
    const size_t value = answer.find(kValue);
    if (value == std::string::npos) return std::nullopt;
    const size_t quote = answer.find('"', value + kValue.size());
    return std::strtod(answer.c_str() + quote + 1, nullptr);
  }

  // Asks until the answer is `wanted`; what it was last after kPatience.
  std::optional<double> AskUntil(const std::string& query, double wanted) const {
    std::optional<double> answer;
    Eventually([&] { return (answer = Ask(query)) == wanted; });
    return answer;
  }

  // Every name that it keeps series of.
  std::string Names() const { return Get(address_, "/api/v1/label/__name__/values"); }

  std::string errors() const { return child_.Errors(); }
  std::string url() const { return "http://" + address_; }

 private:
  // It takes a port of the system's choice and logs it: msg="Listening on" address=127.0.0.1:40123
  std::string Listening() const {
    constexpr std::string_view kLine = R"(msg="Listening on" address=)";
    std::string address = "127.0.0.1:1";
    const bool listens = Eventually([&] {
      const std::string log = child_.Errors();
      const size_t at = log.find(kLine);
      const size_t end = at == std::string::npos ? at : log.find('\n', at);
      if (end == std::string::npos) return false;
      address = log.substr(at + kLine.size(), end - at - kLine.size());
      return true;
    });
    EXPECT_TRUE(listens) << "Prometheus does not listen:\n" << child_.Errors();
    return address;
  }

  const std::string folder_;
  TempFile config_;
  Child child_;
  std::string address_;
};

// The families that docs/metrics.md tells of: "| `levee_calls_total` | counter | ...".
std::vector<std::string> DocumentedFamilies() {
  std::ifstream file(SourcePath("docs/metrics.md"));
  std::vector<std::string> families;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    std::string name = line.substr(3, line.find('`', 3) - 3);
    if (line.find("| histogram") != std::string::npos) name += "_bucket";
    families.push_back(std::move(name));
  }
  return families;
}

// A sidecar that prints every family there is, gRPC's names included, after 5 calls of which the
// first one was retried twice.
class PrometheusTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasPrometheus()) GTEST_SKIP() << "prometheus is not installed (Debian package prometheus)";
    service_ = std::make_unique<FaultyService>(FailFirst(2));
    sidecar_ = std::make_unique<SidecarProcess>(
        ConfigParts{.endpoints = {service_->address()},
                    .retry = "{backoff: {initial: 1ms}, budget: {ratio: 10}}",
                    .policy = ", rate_limit: [{name: all, rate: 1000000/s, burst: 1000}, {name: "
                              "shared, rate: 1000000/s, burst: 1000, scope: global, store: away, "
                              "on_failure: allow}]"},
        std::vector<std::string>{"--config", more_.path()});
    const ChannelPtr channel = NewChannel(sidecar_->address());
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(CallUnary(channel).status.ok());
    EXPECT_TRUE(sidecar_->WaitForSum("levee_calls_total", {R"(code="OK")"}, 5));
  }

  TempFile more_{
      "metrics: {address: \"127.0.0.1:0\", otel_names: true}\n"
      "listeners: [{name: ingress, address: \"127.0.0.1:0\", direction: inbound}]\n"
      "upstreams: [{name: app, endpoints: [\"127.0.0.1:1\"]}]\n"
      "routes: [{match: {listener: ingress}, upstream: app, policy: protect},\n"
      "  {upstream: shop, policy: test, shadow: candidate}]\n"
      "policies: [{name: protect, guard: {dedupe: {}}}, {name: candidate}]\n"
      "stores: [{name: away, redis: [\"127.0.0.1:1\"]}]\n"};
  std::unique_ptr<FaultyService> service_;
  std::unique_ptr<SidecarProcess> sidecar_;
};

TEST_F(PrometheusTest, PromtoolFindsNothingToSay) {
  const TempFile scrape(HttpGet(sidecar_->address("metrics"), "/metrics").body);
  const Ended promtool = RunToEnd(
      "/bin/sh", {"-c", absl::StrCat(kPromtool, " check metrics <", scrape.path(), " 2>&1")});
  EXPECT_EQ(promtool.exit, 0);
  EXPECT_EQ(promtool.output, "");
}

// In one test, because a Prometheus takes five seconds until it scrapes for the first time.
TEST_F(PrometheusTest, SeesWhatHappenedAndZeroWhereNothingHas) {
  const Prometheus prometheus(sidecar_->address("metrics"));
  EXPECT_EQ(prometheus.AskUntil("up", 1), 1) << prometheus.errors();
  EXPECT_EQ(prometheus.Ask(R"(sum(levee_calls_total{code="OK"}))"), 5);
  EXPECT_EQ(prometheus.Ask("sum(levee_calls_total)"), 5);
  EXPECT_EQ(prometheus.Ask("sum(levee_attempts_total)"), 7);
  EXPECT_EQ(prometheus.Ask(R"(sum(levee_retries_total{trigger="status"}))"), 2);
  EXPECT_EQ(prometheus.Ask("sum(grpc_client_attempt_started_total)"), 7);
  EXPECT_EQ(prometheus.Ask("sum(grpc_client_call_retries_sum)"), 2);
  // A rate of what does not exist would be nothing rather than 0.
  EXPECT_EQ(prometheus.Ask(R"(sum(levee_calls_total{code="UNAVAILABLE"}))"), 0);
  EXPECT_EQ(prometheus.Ask("sum(levee_retries_refused_total)"), 0);
  const std::optional<double> median =
      prometheus.Ask("histogram_quantile(0.5, sum by (le) (levee_call_duration_seconds_bucket))");
  ASSERT_TRUE(median.has_value());
  EXPECT_GT(*median, 0);
  EXPECT_LE(*median, 10);
}

TEST_F(PrometheusTest, KeepsSeriesOfEveryDocumentedMetric) {
  const Prometheus prometheus(sidecar_->address("metrics"));
  EXPECT_EQ(prometheus.AskUntil("up", 1), 1) << prometheus.errors();
  const std::string names = prometheus.Names();
  const std::vector<std::string> families = DocumentedFamilies();
  EXPECT_GE(families.size(), 30u);
  for (const std::string& family : families) {
    if (family.starts_with("levee_tls_")) continue;  // Nothing here goes through TLS.
    EXPECT_THAT(names, testing::HasSubstr('"' + family + '"'));
  }
}

TEST_F(PrometheusTest, TellsLeveeFleetOfASidecarThatIsGone) {
  const std::string metrics = sidecar_->address("metrics");
  const Prometheus prometheus(metrics);
  // To see that something has grown it needs two scrapes.
  EXPECT_EQ(prometheus.AskUntil("count_over_time(up[1m]) > bool 1", 1), 1) << prometheus.errors();
  const Ended there = RunToEnd(LEVEE_BINARY, {"fleet", "--prometheus", prometheus.url()});
  EXPECT_EQ(there.exit, 0) << there.output << there.errors;
  EXPECT_THAT(there.output, testing::StartsWith("1 sidecar, 5m\n"));
  sidecar_.reset();
  EXPECT_EQ(prometheus.AskUntil("up", 0), 0);
  const Ended gone = RunToEnd(LEVEE_BINARY, {"fleet", "--prometheus", prometheus.url()});
  EXPECT_EQ(gone.exit, 1) << gone.errors;
  EXPECT_THAT(gone.output, testing::StartsWith("0 of 1 sidecars, 5m\n"));
  EXPECT_THAT(gone.output, testing::HasSubstr("\n  - levee at " + metrics +
                                              " was not read: Prometheus does not reach it.\n"));
}

}  // namespace
}  // namespace levee
