// SPDX-License-Identifier: Apache-2.0
// The bytes of one accepted connection, in clear text or with TLS.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace levee::bench {

struct FreeTls {
  void operator()(SSL* tls) const { SSL_free(tls); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;

// A server's side of TLS 1.3 that chooses h2. `file`: PEM, certificate and key. `ca`: PEM, of those
// whose certificates clients must show; empty: they need none. The program exits with OpenSSL's
// reason when they cannot be used.
TlsContext LoadTls(const std::string& file, const std::string& ca);

// Owns a non-blocking socket.
class Line {
 public:
  // `context`: nullptr for clear text.
  Line(int fd, SSL_CTX* context);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  int fd() const { return fd_; }

  // Returns how many bytes went; 0: none do now; nullopt: the connection is over. After a Read that
  // filled its bytes, there may be more that no event tells of.
  std::optional<size_t> Read(std::span<uint8_t> bytes);
  std::optional<size_t> Write(std::span<const uint8_t> bytes);

 private:
  std::optional<size_t> AfterFailure();

  const int fd_;
  const std::unique_ptr<SSL, FreeTls> tls_;
};

}  // namespace levee::bench
