// SPDX-License-Identifier: Apache-2.0
#include "attacks/handshakes.h"

#include <openssl/ssl.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "integration/tcp.h"

namespace levee {
namespace {

constexpr int kThreads = 8;  // A handshake waits for the target most of its time.
constexpr int kPerSecond = 1000;

struct Free {
  void operator()(SSL* tls) const { SSL_free(tls); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

// A client that verifies the target and shows a certificate, with nothing to resume.
std::unique_ptr<SSL_CTX, Free> MakeContext(const std::string& folder) {
  std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  const auto file = [&](const char* name) { return folder + "/" + name; };
  constexpr unsigned char kH2[] = {2, 'h', '2'};
  const bool done =
      SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) == 1 &&
      SSL_CTX_load_verify_locations(context.get(), file("ca.pem").c_str(), nullptr) == 1 &&
      SSL_CTX_use_certificate_chain_file(context.get(), file("own.crt").c_str()) == 1 &&
      SSL_CTX_use_PrivateKey_file(context.get(), file("own.key").c_str(), SSL_FILETYPE_PEM) == 1 &&
      SSL_CTX_set_alpn_protos(context.get(), kH2, sizeof kH2) == 0;
  if (!done) {
    std::fprintf(stderr, "the certificates in %s cannot be used\n", folder.c_str());
    std::exit(1);
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return context;
}

// Returns whether both sides have finished: what the target says next comes after its last step.
bool ShakeHandsOnce(SSL_CTX* context, const std::string& address) {
  const int fd = ConnectTo(address);
  const TcpConnection connection(fd);
  const std::unique_ptr<SSL, Free> tls(SSL_new(context));
  SSL_set_fd(tls.get(), fd);
  if (SSL_connect(tls.get()) != 1) return false;
  constexpr std::string_view kGreeting("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  char first = 0;
  size_t size = 0;
  return SSL_write_ex(tls.get(), kGreeting.data(), kGreeting.size(), &size) == 1 &&
         SSL_read_ex(tls.get(), &first, 1, &size) == 1;
}

void ShakeHandsForever(Target& target) {
  const auto context = MakeContext(target.certificates());
  Target pace(target.address());
  for (;;) {
    pace.Pace(kPerSecond / kThreads);
    if (ShakeHandsOnce(context.get(), target.address())) target.CountConnection();
  }
}

}  // namespace

void ChangeKeys(Target& target) {
  constexpr int kAtOnce = 100;
  const auto context = MakeContext(target.certificates());
  const int fd = ConnectTo(target.address());
  const TcpConnection connection(fd);
  const std::unique_ptr<SSL, Free> tls(SSL_new(context.get()));
  SSL_set_fd(tls.get(), fd);
  target.CountConnection();
  if (SSL_connect(tls.get()) != 1) return;
  for (;;) {
    target.Pace(20'000 / kAtOnce);
    for (int i = 0; i < kAtOnce; ++i) {
      if (SSL_key_update(tls.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) return;
      if (SSL_do_handshake(tls.get()) != 1) return;
    }
  }
}

void ShakeHands(Target& target) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&] { ShakeHandsForever(target); });
}

}  // namespace levee
