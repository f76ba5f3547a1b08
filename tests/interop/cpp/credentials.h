// SPDX-License-Identifier: Apache-2.0
// What the C++ programs speak: plaintext, or mTLS with the files of the folder INTEROP_TLS.
#pragma once

#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "grpcpp/grpcpp.h"

namespace levee::interop {

struct TlsFiles {
  std::string ca;
  // Empty for a client that has no certificate.
  std::string certificate;
  std::string key;
};

inline std::optional<TlsFiles> ReadTlsFiles() {
  const char* folder = std::getenv("INTEROP_TLS");
  if (folder == nullptr) {
    return std::nullopt;
  }
  const auto read = [folder](const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder + ("/" + name)).rdbuf();
    return text.str();
  };
  return TlsFiles{read("ca.pem"), read("own.crt"), read("own.key")};
}

inline std::shared_ptr<grpc::ChannelCredentials> ClientCredentials() {
  const std::optional<TlsFiles> files = ReadTlsFiles();
  return files ? grpc::SslCredentials({files->ca, files->key, files->certificate})
               : grpc::InsecureChannelCredentials();
}

inline std::shared_ptr<grpc::ServerCredentials> ServerCredentials() {
  const std::optional<TlsFiles> files = ReadTlsFiles();
  if (!files) {
    return grpc::InsecureServerCredentials();
  }
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = files->ca;
  options.pem_key_cert_pairs.push_back({files->key, files->certificate});
  return grpc::SslServerCredentials(options);
}

}  // namespace levee::interop
