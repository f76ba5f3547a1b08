// SPDX-License-Identifier: Apache-2.0
#include "tls/svid.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "tls/peer_name.h"

namespace levee::tls {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Pkcs8 = std::unique_ptr<PKCS8_PRIV_KEY_INFO, decltype(&PKCS8_PRIV_KEY_INFO_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string TextOf(BIO* memory) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory, &text);
  return {text, static_cast<size_t>(size)};
}

// Returns nothing if one of the certificates cannot be read.
std::vector<Certificate> Certificates(std::string_view der) {
  std::vector<Certificate> all;
  const unsigned char* at = BytesOf(der);
  const unsigned char* const end = at + der.size();
  while (at != end) {
    Certificate next(d2i_X509(nullptr, &at, end - at), X509_free);
    if (next == nullptr) return {};
    all.push_back(std::move(next));
  }
  return all;
}

std::string PemOf(const std::vector<Certificate>& certificates) {
  const Bio memory(BIO_new(BIO_s_mem()), BIO_free);
  for (const Certificate& certificate : certificates) {
    PEM_write_bio_X509(memory.get(), certificate.get());
  }
  return TextOf(memory.get());
}

// Returns nothing if the key cannot be read, or has other bytes behind it.
std::string PemOfKey(std::string_view der) {
  const unsigned char* at = BytesOf(der);
  const Pkcs8 info(d2i_PKCS8_PRIV_KEY_INFO(nullptr, &at, static_cast<long>(der.size())),
                   PKCS8_PRIV_KEY_INFO_free);
  if (info == nullptr || at != BytesOf(der) + der.size()) return "";
  const Key key(EVP_PKCS82PKEY(info.get()), EVP_PKEY_free);
  if (key == nullptr) return "";
  const Bio memory(BIO_new(BIO_s_secmem()), BIO_free);
  PEM_write_bio_PKCS8PrivateKey(memory.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(memory.get());
}

absl::Status Wrong(std::string_view what) { return absl::InvalidArgumentError(Abseil(what)); }

// Whether the first certificate is an SVID of `id`, by what it says itself.
absl::Status Judge(X509* leaf, const std::string& id) {
  if (SpiffeIdOf(id).empty()) return Wrong(absl::StrCat("\"", id, "\" is no SPIFFE ID"));
  if (SpiffeIdOf(leaf) != SpiffeIdOf(id)) {
    return Wrong(absl::StrCat("the certificate is for ", NamesOf(leaf), " and not for ", id));
  }
  if (X509_check_ca(leaf) != 0) return Wrong("the certificate is that of a CA");
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Svid>> Read(const SvidBytes& bytes) {
  const std::vector<Certificate> chain = Certificates(bytes.chain);
  if (chain.empty()) return Wrong("the certificate cannot be read");
  const std::vector<Certificate> bundle = Certificates(bytes.bundle);
  if (bundle.empty()) return Wrong("the trust domain's CAs cannot be read");
  auto svid = std::make_shared<Svid>();
  svid->id = std::string(bytes.id);
  if (absl::Status judged = Judge(chain.front().get(), svid->id); !judged.ok()) return judged;
  svid->credentials = {PemOf(chain), PemOfKey(bytes.key)};
  if (svid->credentials.key.empty()) return Wrong("the key cannot be read");
  svid->bundle = PemOf(bundle);
  return svid;
}

}  // namespace

Svid::~Svid() { Wipe(credentials.key); }

void Wipe(std::string& key) {
  OPENSSL_cleanse(key.data(), key.size());
  key.clear();
}

absl::StatusOr<std::shared_ptr<const Svid>> ParseSvid(const SvidBytes& bytes) {
  ERR_clear_error();
  absl::StatusOr<std::shared_ptr<Svid>> svid = Read(bytes);
  ERR_clear_error();
  if (!svid.ok()) return svid.status();
  const auto context = Context::Make(Role::kServer, {.credentials = (*svid)->credentials});
  if (!context.ok()) return context.status();
  (*svid)->expires = (*context)->expires();
  return *std::move(svid);
}

}  // namespace levee::tls
