// SPDX-License-Identifier: Apache-2.0
// A real gRPC server that speaks TLS.
#pragma once

#include <memory>
#include <string>

#include "certificates/authority.h"
#include "integration/faulty_service.h"

namespace levee {

// A gRPC server whose certificate is for localhost.
struct SecureService {
  explicit SecureService(const Authority& authority, bool demands_certificate = false)
      : SecureService(authority, authority.Issue(), demands_certificate) {}
  SecureService(const Authority& authority, const PemPair& pair, bool demands_certificate)
      : service([](const SeenCall&) { return Answer(); },
                {.credentials = CredentialsOf(authority, pair, demands_certificate)}),
        endpoint("localhost:" + std::to_string(service.port())) {}

  static std::shared_ptr<grpc::ServerCredentials> CredentialsOf(const Authority& authority,
                                                                const PemPair& pair,
                                                                bool demands_certificate) {
    grpc::SslServerCredentialsOptions options(
        demands_certificate ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                            : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
    options.pem_root_certs = authority.pem();
    options.pem_key_cert_pairs.push_back({pair.key, pair.certificate});
    return grpc::SslServerCredentials(options);
  }

  FaultyService service;
  std::string endpoint;
};

}  // namespace levee
