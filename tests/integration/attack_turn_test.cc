// SPDX-License-Identifier: Apache-2.0
// Callers that send very many small requests at once: little to read, and much to make of it.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "certificates/authority.h"
#include "gtest/gtest.h"
#include "integration/attacker.h"
#include "integration/faulty_service.h"
#include "integration/guarded.h"
#include "integration/mebibyte.h"
#include "integration/memory_cgroup.h"
#include "integration/pem_files.h"
#include "integration/raw_client.h"
#include "integration/raw_upstream.h"
#include "integration/scripted.h"
#include "integration/secure_peer.h"
#include "integration/tcp.h"

namespace levee {
namespace {

constexpr int kTurnConnections = 300;
constexpr int kTurnRequests = 1000;  // of each connection
constexpr std::string_view kLast = "the last";

// What the callers do once they have sent all.
enum class Then {
  kRead,   // until the last thing that they sent has been answered
  kWait,   // without reading
  kReset,  // the connection, at once
  kEnd     // the connection in good order, at once
};

struct Cell {
  long container = 0;    // MiB
  bool guarded = false;  // the sidecar is the service's guard, not the caller's
  bool indexed = false;  // the heads stand in HPACK's table: 15 bytes a request, and not 150
  Then then = Then::kRead;
  bool secure = false;  // over TLS, in records of 16 KiB, and callers show a certificate
  int workers = 1;
};

std::string NameOf(const testing::TestParamInfo<Cell>& info) {
  static constexpr const char* kThens[] = {"Read", "Wait", "Reset", "End"};
  const Cell& cell = info.param;
  return std::string(cell.guarded ? "Guarded" : "Egress") + (cell.secure ? "Secure" : "") +
         (cell.indexed ? "Indexed" : "Literal") + kThens[static_cast<int>(cell.then)] +
         std::to_string(cell.container) + (cell.workers > 1 ? "TwoWorkers" : "");
}

// What one connection sends: its requests, and a PING whose answer tells that all were read.
std::string Requests(const std::string& path, bool indexed) {
  const HeaderList fields = {{":authority", "shop"},
                             {":path", path},
                             {"te", "trailers"},
                             {"content-type", "application/grpc"}};
  const std::string again = "\x83\x86\xc1\xc0\xbf\xbe";  // the table's entries, the last one first
  std::string frames =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + EncodeFrame(FrameType::kSettings, 0, 0, "");
  for (int call = 0; call < kTurnRequests; ++call) {
    std::string block = "\x83\x86";  // POST, http
    for (const auto& field : fields) {
      std::string literal = Encode({field});
      if (indexed) literal[0] = '\x40';  // it goes into the table
      block += literal;
    }
    frames += EncodeFrame(FrameType::kHeaders, kEndHeaders | kEndStream, StreamOf(call),
                          indexed && call > 0 ? again : block);
  }
  return frames + EncodeFrame(FrameType::kPing, 0, 0, kLast);
}

// Connections of the callers.
struct Peers {
  std::vector<pollfd> open;
  std::vector<SecurePeer> tls;  // of each, if they have it
};

// Reads all of them until each has brought kLast or has ended.
void ReadToTheLast(Peers& all) {
  std::vector<pollfd> peers = all.open;
  std::vector<std::string> ends(peers.size());  // the last bytes of each
  std::array<char, 65536> buffer;
  for (size_t open = peers.size(); open > 0;) {
    if (poll(peers.data(), peers.size(), 60'000) <= 0) {
      ADD_FAILURE() << open << " connections have no answer";
      return;
    }
    for (size_t i = 0; i < peers.size(); ++i) {
      if (peers[i].fd < 0 || peers[i].revents == 0) continue;
      const ssize_t size = recv(peers[i].fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      const std::string_view came(buffer.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
      ends[i] += all.tls.empty() ? std::string(came) : all.tls[i].Decrypt(came);
      if (size > 0 && ends[i].find(kLast) == std::string::npos) {
        ends[i].erase(0, ends[i].size() - std::min(ends[i].size(), kLast.size()));
        continue;
      }
      peers[i].fd = -1;
      --open;
    }
  }
}

class MemoryOfATurn : public testing::TestWithParam<Cell> {
 protected:
  MemoryOfATurn()
      : stuck_(TakeNoBodies), cgroup_(GetParam().container * kMiB), own_(authority_.Issue()) {}

  // Callers who stay have their calls at an upstream that does not answer, others at a quick one.
  std::string Text() const {
    const bool stay = GetParam().then == Then::kRead || GetParam().then == Then::kWait;
    const std::string target = stay ? stuck_.address() : target_.address();
    if (GetParam().guarded) return GuardsText({target, honest_.address()}, "");
    const std::string tls =
        absl::StrCat(", tls: {", folder_.Put("levee", authority_.Issue()),
                     ", client_ca: ", folder_.Put("ca.pem", authority_.pem()), "}");
    return SidecarConfigText(
        {.endpoints = {target},
         .retry = kNoRetry,
         .route = "match: {method: \"/honest.Service/*\"}, upstream: honest, "
                  "policy: test}, {",
         .upstream = "}, {name: honest, endpoints: [\"" + honest_.address() + "\"]",
         .listener = GetParam().secure ? tls : ""});
  }

  ChannelPtr HonestChannel(const SidecarProcess& sidecar) const {
    if (!GetParam().secure) {
      return NewChannel(sidecar.address(GetParam().guarded ? "ingress1" : "egress"));
    }
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("localhost");
    return NewChannel(sidecar.address(), arguments,
                      grpc::SslCredentials({.pem_root_certs = authority_.pem(),
                                            .pem_private_key = own_.key,
                                            .pem_cert_chain = own_.certificate}));
  }

  // Returns the connections that stay.
  Peers SendAll(const std::string& address) const {
    const std::string plain = Requests("/shop.Service/Unary", GetParam().indexed);
    const auto context = *tls::Context::Make(
        tls::Role::kClient, {.credentials = tls::Credentials{own_.certificate, own_.key},
                             .trusted = *tls::TrustStore::Parse(authority_.pem())});
    Peers peers;
    for (int i = 0; i < kTurnConnections; ++i) {
      const int fd = ConnectTo(address);
      if (GetParam().then == Then::kWait) {
        const int few = 4096;  // What is not read waits at the other side, not in the kernel.
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
      }
      const timeval patience = {.tv_sec = 20, .tv_usec = 0};
      setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
      std::string requests = plain;
      if (GetParam().secure) requests = peers.tls.emplace_back(fd, context).Encrypt(plain);
      std::string_view left = requests;
      while (!left.empty()) {
        const ssize_t sent = send(fd, left.data(), left.size(), MSG_NOSIGNAL);
        if (sent <= 0) break;
        left.remove_prefix(static_cast<size_t>(sent));
      }
      const linger none = {.l_onoff = 1, .l_linger = 0};
      if (GetParam().then == Then::kReset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
      if (GetParam().then == Then::kReset || GetParam().then == Then::kEnd) {
        close(fd);
      } else {
        peers.open.push_back({.fd = fd, .events = POLLIN, .revents = 0});
      }
    }
    return peers;
  }

  // Calls of an honest caller, until `enough`.
  void Call(const ChannelPtr& channel, const std::function<bool()>& enough) {
    while (!enough()) {
      const grpc::Status status =
          CallUnary(channel, std::string(1000, 'o'), nullptr, "/honest.Service/Unary").status;
      ++calls_;
      if (status.ok()) ++good_;
      if (!status.ok() && calls_ - good_ <= 5) std::puts(status.error_message().c_str());
    }
  }
  std::function<bool()> After(int calls) {
    return [this, all = calls_ + calls] { return calls_ >= all; };
  }

  // Sends all that the callers send, with calls of an honest caller before, beside and afterwards.
  // Then it goes on with calls until `enough`, which gets what is resident in bytes, before and
  // now.
  void Attack(const std::function<bool(long before, long now)>& enough) {
    const auto sidecar = SidecarProcess::RunInCgroup(
        Text(), cgroup_.door(), absl::StrCat("--workers ", GetParam().workers));
    const ChannelPtr channel = HonestChannel(*sidecar);
    Call(channel, After(50));
    const long before = sidecar->process().ResidentBytes();
    std::atomic<bool> sent = false;
    std::latch leave(1);
    std::thread attackers([&] {
      Peers peers = SendAll(sidecar->address(GetParam().guarded ? "ingress0" : "egress"));
      if (GetParam().then == Then::kRead) ReadToTheLast(peers);
      sent = true;
      leave.wait();
      for (const pollfd& peer : peers.open) close(peer.fd);
    });
    long most = 0;
    Call(channel, [&, many = After(300)] {
      most = std::max(most, sidecar->process().ResidentBytes());
      return sent && many();
    });
    leave.count_down();
    attackers.join();
    Call(channel, After(100));
    EXPECT_EQ(sidecar->HttpStatus("/healthz"), 200) << "it does not live";
    long after = 0;
    Call(channel, [&] {
      after = sidecar->process().ResidentBytes();
      return enough(before, after);
    });
    std::printf(
        "%d of %d honest calls good; resident %ld MiB before, %ld at most, %ld afterwards\n", good_,
        calls_, before / kMiB, most / kMiB, after / kMiB);
  }

  const FaultyService honest_, target_;
  const RawUpstream stuck_;
  const MemoryCgroup cgroup_;
  const PemFiles folder_;
  const Authority authority_;
  const PemPair own_;  // of all callers
  int calls_ = 0, good_ = 0;
};

// What it lives through, whatever the machine does beside it.
TEST_P(MemoryOfATurn, ManySmallRequestsInOneWriteDoNotEndTheSidecar) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory does not fit";
#endif
  if (!cgroup_.limited()) GTEST_SKIP() << "no memory cgroup of version 1 may be made here";
  Attack([this, good = good_](long, long) { return good_ > good; });
}

// What honest callers lose meanwhile, and when memory is back: both depend on the machine.
class MemoryOfATurnSoak : public MemoryOfATurn {};

TEST_P(MemoryOfATurnSoak, IsBackAfterAMinuteAndHonestCallersLoseNothing) {
  if (!cgroup_.limited()) GTEST_SKIP() << "no memory cgroup of version 1 may be made here";
  using Clock = std::chrono::steady_clock;
  bool back = false;
  std::optional<Clock::time_point> end;
  Attack([&](long before, long now) {
    if (!end) end = Clock::now() + std::chrono::minutes(1);
    // The allocator may keep an eighth of the limit, and pages of which little is held.
    back = now < before + 24 * kMiB + GetParam().container * kMiB / 8;
    return back || Clock::now() > *end;
  });
  EXPECT_TRUE(back);
  EXPECT_GE(good_, calls_ * 99 / 100);
}

std::vector<Cell> FewCells() {
  return {{.container = 64, .indexed = true, .then = Then::kRead},
          {.container = 128, .indexed = true, .then = Then::kReset},
          {.container = 64, .guarded = true, .indexed = true, .then = Then::kRead},
          {.container = 64, .indexed = true, .then = Then::kRead, .workers = 2},
          {.container = 64, .guarded = true, .indexed = true, .then = Then::kEnd, .workers = 2},
          {.container = 64, .indexed = true, .then = Then::kRead, .secure = true}};
}

// Every kind of caller in every container.
std::vector<Cell> AllCells() {
  std::vector<Cell> cells;
  for (const long container : {64, 128, 256, 512}) {
    for (const bool indexed : {true, false}) {
      for (const Then then : {Then::kRead, Then::kWait, Then::kReset, Then::kEnd}) {
        for (const bool guarded : {false, true}) {
          cells.push_back({container, guarded, indexed, then});
        }
        cells.push_back({container, false, indexed, then, /*secure=*/true});
      }
    }
  }
  return cells;
}

INSTANTIATE_TEST_SUITE_P(All, MemoryOfATurn, testing::ValuesIn(FewCells()), NameOf);
INSTANTIATE_TEST_SUITE_P(All, MemoryOfATurnSoak, testing::ValuesIn(AllCells()), NameOf);

}  // namespace
}  // namespace levee
