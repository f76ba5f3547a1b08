// SPDX-License-Identifier: Apache-2.0
#include "bench/line.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace levee::bench {
namespace {

int ChooseH2(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
             unsigned int offered_size, void*) {
  static constexpr unsigned char kH2[] = {2, 'h', '2'};
  unsigned char* protocol = nullptr;
  const int result = SSL_select_next_proto(&protocol, size, kH2, sizeof kH2, offered, offered_size);
  *chosen = protocol;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace

TlsContext LoadTls(const std::string& file, const std::string& ca) {
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  if (SSL_CTX_use_certificate_chain_file(context.get(), file.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context.get(), file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      (!ca.empty() && SSL_CTX_load_verify_locations(context.get(), ca.c_str(), nullptr) != 1)) {
    ERR_print_errors_fp(stderr);
    std::exit(1);
  }
  if (!ca.empty()) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_alpn_select_cb(context.get(), ChooseH2, nullptr);
  return context;
}

Line::Line(int fd, SSL_CTX* context)
    : fd_(fd), tls_(context == nullptr ? nullptr : SSL_new(context)) {
  if (tls_ == nullptr) return;
  SSL_set_fd(tls_.get(), fd);
  SSL_set_accept_state(tls_.get());
}

Line::~Line() { close(fd_); }

std::optional<size_t> Line::Read(std::span<uint8_t> bytes) {
  if (tls_ != nullptr) {
    size_t size = 0;
    const bool done = SSL_read_ex(tls_.get(), bytes.data(), bytes.size(), &size) == 1;
    return done ? size : AfterFailure();
  }
  const ssize_t size = recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size > 0) return static_cast<size_t>(size);
  if (size < 0 && errno == EAGAIN) return 0;
  return std::nullopt;
}

std::optional<size_t> Line::Write(std::span<const uint8_t> bytes) {
  if (tls_ != nullptr) {
    size_t size = 0;
    const bool done = SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &size) == 1;
    return done ? size : AfterFailure();
  }
  const ssize_t size = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (size >= 0) return static_cast<size_t>(size);
  if (errno == EAGAIN) return 0;
  return std::nullopt;
}

// What a call of OpenSSL that moved no byte means.
std::optional<size_t> Line::AfterFailure() {
  const int error = SSL_get_error(tls_.get(), 0);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return 0;
  return std::nullopt;
}

}  // namespace levee::bench
