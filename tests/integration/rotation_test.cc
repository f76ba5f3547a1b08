// SPDX-License-Identifier: Apache-2.0
// Certificates that are replaced again and again under load: those of files, of a mounted secret
// and of a Workload API at once, with real gRPC at both ends.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "certificates/authority.h"
#include "certificates/mounted_secret.h"
#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/event_lines.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/pem_files.h"
#include "integration/secure_service.h"
#include "integration/sidecar_process.h"
#include "integration/workload_api.h"

namespace levee {
namespace {

using std::chrono::steady_clock;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// What is measured takes a minute, in which certificates live so long. After that no new connection
// could be made with them.
constexpr int kRotationSeconds = 60;
constexpr absl::Duration kShortLife = absl::Seconds(20);

std::string Half(const std::string& text) { return text.substr(0, text.size() / 2); }

// Two callers that call all the time: one on a connection that stays, one on a new one each time.
class Callers {
 public:
  using Connect = std::function<ChannelPtr()>;

  explicit Callers(const Connect& connect)
      : staying_([this, connect] {
          const ChannelPtr channel = connect();
          while (!over_) calls_ += Call(channel) ? 1 : 0;
        }),
        coming_([this, connect] {
          while (!over_) connections_ += Call(connect()) ? 1 : 0;
        }) {}
  ~Callers() {
    over_ = true;
    staying_.join();
    coming_.join();
  }
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // Returns then, or at once if a call has failed.
  void GoOnUntil(steady_clock::time_point then) {
    std::unique_lock lock(mutex_);
    failed_.wait_until(lock, then, [this] { return !failure_.empty(); });
  }

  // Waits until both have made another call from its beginning to its end, or until one has failed.
  void GoOn() {
    for (const std::atomic<int>* count : {&calls_, &connections_}) {
      EXPECT_TRUE(
          Eventually([&, until = *count + 2] { return *count >= until || !failure().empty(); }));
    }
  }

  // Why the first call failed; empty if none has.
  std::string failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  // That have succeeded on the connection that stays.
  int calls() const { return calls_; }

 private:
  bool Call(const ChannelPtr& channel) {
    // gRPC's client may take a new connection for a failed one, and makes another a moment later.
    const auto patiently = [](grpc::ClientContext& context) { context.set_wait_for_ready(true); };
    const grpc::Status status = CallUnary(channel, "hello", patiently).status;
    if (status.ok()) return true;
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = absl::StrCat("failed: ", status.error_message());
    failed_.notify_all();
    return false;
  }

  std::mutex mutex_;
  std::condition_variable failed_;
  std::string failure_;
  std::atomic<int> calls_ = 0, connections_ = 0;
  std::atomic<bool> over_ = false;
  std::thread staying_, coming_;
};

// Callers reach the sidecar of web over TLS, by certificates of files. It reaches that of cart by
// those of the Workload API, and that one the service by those of a mounted secret.
struct Rotation : public ::testing::Test {
  PemPair Issue(const std::string& name) const {
    return authority.Issue({.names = {name}, .ends_in = life});
  }

  // Puts new certificates in all places.
  void PutGood() {
    files.Put("levee", Issue("localhost"));
    const PemPair own = Issue("cart.shop");
    // The CAs are others as well.
    mounted.Put({{"ca.crt", authority.pem() + Authority().pem()},
                 {"tls.crt", own.certificate},
                 {"tls.key", own.key}});
    web.Give(SvidResponse(authority, Issue(kWeb), kWeb));
    cart.Give(SvidResponse(authority, Issue(kCart), kCart));
  }

  // Puts in all places what cannot be used: pairs that do not fit, or files that are half written.
  void PutBad(int kind) {
    const PemPair own = Issue("localhost"), another = Issue("localhost");
    const std::map<std::string, std::string> mounts[] = {
        {{"ca.crt", authority.pem()}, {"tls.crt", own.certificate}, {"tls.key", another.key}},
        {{"ca.crt", authority.pem()}, {"tls.crt", Half(own.certificate)}, {"tls.key", own.key}},
        {{"ca.crt", Half(authority.pem())}, {"tls.crt", own.certificate}, {"tls.key", own.key}},
        {{"ca.crt", authority.pem()}, {"tls.crt", own.certificate}}};
    const PemPair pairs[] = {{own.certificate, another.key},
                             {Half(own.certificate), own.key},
                             {own.certificate, Half(own.key)},
                             {"", own.key}};
    files.Put("levee", pairs[kind % 4]);
    mounted.Put(mounts[kind % 4]);
    for (const auto& [api, id] : {std::pair(&web, kWeb), {&cart, kCart}}) {
      X509SVIDResponse response = SvidResponse(authority, Issue(id), id);
      X509SVID& svid = *response.mutable_svids(0);
      if (kind % 4 == 0) svid.set_x509_svid_key(DerOf(another.key));
      if (kind % 4 == 1) svid.set_x509_svid(Half(svid.x509_svid()));
      if (kind % 4 == 2) svid.set_x509_svid_key(Half(svid.x509_svid_key()));
      if (kind % 4 == 3) svid.set_bundle(Half(svid.bundle()));
      api->Give(response);
    }
  }

  ConfigParts Ingress() const {
    return {.endpoints = {absl::StrCat("localhost:", service.port())},
            .retry = kOnce,
            .upstream = absl::StrCat(", max_connection_age: 300ms, tls: {", mounted.Files(), "}"),
            .listener = absl::StrCat(", max_connection_age: 300ms, tls: {spiffe: 'unix://",
                                     (files.path() / "cart.sock").string(), "'}")};
  }
  ConfigParts Egress(const SidecarProcess& ingress) const {
    const std::string own = (files.path() / "levee").string();
    return {
        .endpoints = {ingress.address()},
        .retry = kOnce,
        .upstream = absl::StrCat(", tls: {spiffe: 'unix://", (files.path() / "web.sock").string(),
                                 "', subject_alt_names: ['uri:", kCart, "']}"),
        .listener = absl::StrCat(", tls: {certificate: ", own, ".crt, key: ", own, ".key}")};
  }

  ChannelPtr Connect(const SidecarProcess& sidecar) const {
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("localhost");
    return NewChannel(sidecar.address(), arguments,
                      grpc::SslCredentials({.pem_root_certs = authority.pem()}));
  }

  const Authority authority;
  absl::Duration life = absl::Hours(1);  // of each certificate that is replaced
  PemFiles files;
  MountedSecret mounted{files.path() / "mounted"};
  WorkloadApi web{files.path() / "web.sock"}, cart{files.path() / "cart.sock"};
  // It takes its time, so that few calls keep the callers busy.
  FaultyService service{
      [](const SeenCall&) { return Answer{.delay = std::chrono::milliseconds(50)}; },
      {.credentials = SecureService::CredentialsOf(authority, authority.Issue(), true)}};
};

constexpr char kReloads[] = "levee_config_reloads_total";
constexpr char kRotations[] = "levee_tls_certificate_rotations_total";
constexpr char kHandshakes[] = "levee_tls_handshakes_total";
constexpr char kSuccess[] = R"(result="success")";
constexpr char kFailure[] = R"(result="failure")";

// How often a sidecar has taken certificates, of files and of the API, and refused those of files.
struct Counts {
  explicit Counts(const SidecarProcess& sidecar)
      : taken(sidecar.Sum(kReloads, {kSuccess}) + sidecar.Sum(kRotations)),
        refused(sidecar.Sum(kReloads, {kFailure})) {}

  double taken;
  double refused;
};

void ExpectTaken(const SidecarProcess& sidecar, int times) {
  EXPECT_TRUE(sidecar.WaitForSumAtLeast(kReloads, {kSuccess}, times));
  EXPECT_TRUE(sidecar.WaitForSumAtLeast(kRotations, {}, times));
}

void ExpectRefused(const SidecarProcess& sidecar, const Counts& before) {
  EXPECT_TRUE(sidecar.WaitForSumAtLeast(kReloads, {kFailure}, before.refused + 1));
  EXPECT_EQ(Counts(sidecar).taken, before.taken);
}

// Puts good certificates in all places, and after each three of them bad ones.
class Replacing {
 public:
  Replacing(Rotation& all, const SidecarProcess& ingress, const SidecarProcess& egress)
      : all_(all), ingress_(ingress), egress_(egress) {}

  bool IsGoodNext() const { return good_ % 3 != 0 || good_ == 3 * bad_; }
  int count() const { return good_ + bad_; }

  // Returns when both sidecars have taken or refused all. `meanwhile` runs before it waits for
  // that.
  void Next(const std::function<void()>& meanwhile = [] {}) {
    if (IsGoodNext()) {
      all_.PutGood();
      ++good_;
      meanwhile();
      ExpectTaken(ingress_, good_);
      ExpectTaken(egress_, good_);
      return;
    }
    const Counts of_ingress(ingress_), of_egress(egress_);
    all_.PutBad(bad_++);
    meanwhile();
    EXPECT_TRUE(all_.web.WaitUntilSent() && all_.cart.WaitUntilSent());
    ExpectRefused(ingress_, of_ingress);
    ExpectRefused(egress_, of_egress);
  }

 private:
  Rotation& all_;
  const SidecarProcess& ingress_;
  const SidecarProcess& egress_;
  int good_ = 0, bad_ = 0;
};

// At the end, after so many replacements.
void ExpectHandshakes(const SidecarProcess& sidecar, int replaced) {
  // gRPC's client may reset one. All others that fail do so for a certificate. One scrape tells it,
  // since the callers go on.
  for (const auto& [series, count] : sidecar.Scrape()) {
    if (!series.starts_with(kHandshakes)) continue;
    EXPECT_THAT(series, AnyOf(HasSubstr(kSuccess), HasSubstr(R"(result="reset")"))) << count;
  }
  for (const char* side : {R"(side="client")", R"(side="server")"}) {
    EXPECT_TRUE(sidecar.WaitForSumAtLeast(kHandshakes, {side, kSuccess}, replaced + 1));
  }
}

void ExpectRefusedAndConnected(const SidecarProcess& sidecar, int replaced) {
  ExpectHandshakes(sidecar, replaced);
  EXPECT_THAT(ErrorsWith(sidecar, "svid_refused"), HasSubstr("svid_refused"));
}

// Bad certificates of each kind are among them.
TEST_F(Rotation, T2_NoCallFailsWhileAllCertificatesAreReplacedAgainAndAgain) {
  PutGood();
  const SidecarProcess ingress(Ingress()), egress(Egress(ingress));
  Callers callers([&] { return Connect(egress); });
  Replacing replacing(*this, ingress, egress);
  constexpr int kTimes = 16;
  while (replacing.count() < kTimes && !HasFailure()) {
    replacing.Next();
    callers.GoOn();
    EXPECT_EQ(callers.failure(), "") << "after " << replacing.count();
  }
  ExpectRefusedAndConnected(ingress, kTimes);
  ExpectRefusedAndConnected(egress, kTimes);
}

using RotationSoak = Rotation;

TEST_F(RotationSoak, T2_ForAMinuteNoCallFailsWhileAllCertificatesAreReplacedEverySecond) {
  using std::chrono::milliseconds, std::chrono::seconds;
  life = kShortLife;
  PutGood();
  const SidecarProcess ingress(Ingress()), egress(Egress(ingress));
  Callers callers([&] { return Connect(egress); });
  Replacing replacing(*this, ingress, egress);
  const auto end = steady_clock::now() + seconds(kRotationSeconds);
  for (auto begin = steady_clock::now(); begin < end && !HasFailure();
       begin = std::max(begin + seconds(1), steady_clock::now())) {
    const milliseconds calm(replacing.IsGoodNext() ? 500 : 900);
    replacing.Next([&] { callers.GoOnUntil(begin + calm); });
    callers.GoOnUntil(begin + seconds(1));
    EXPECT_EQ(callers.failure(), "") << "after " << replacing.count();
  }
  // As many as there are seconds, but on a machine that has no time.
  EXPECT_GE(replacing.count(), kRotationSeconds / 2);
  EXPECT_GT(callers.calls(), replacing.count());
  ExpectRefusedAndConnected(ingress, replacing.count());
  ExpectRefusedAndConnected(egress, replacing.count());
}

}  // namespace
}  // namespace levee
