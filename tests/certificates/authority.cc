// SPDX-License-Identifier: Apache-2.0
#include "certificates/authority.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"

namespace levee {
namespace {

template <typename Write>
std::string Pem(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
  LEVEE_CHECK(write(memory.get()) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<size_t>(size)};
}

std::string PemOf(X509* certificate) {
  return Pem([&](BIO* to) { return PEM_write_bio_X509(to, certificate); });
}

void AddExtension(X509& certificate, X509& issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  LEVEE_CHECK(extension != nullptr);
  X509_add_ext(&certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Returns a certificate of `key` without a signature.
X509* Unsigned(EVP_PKEY& key, const char* name, absl::Duration begins_in, absl::Duration ends_in) {
  X509* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  unsigned char serial[8];
  LEVEE_CHECK(RAND_bytes(serial, sizeof serial) == 1);
  BIGNUM* number = BN_bin2bn(serial, sizeof serial, nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
  BN_free(number);
  X509_gmtime_adj(X509_getm_notBefore(certificate), absl::ToInt64Seconds(begins_in));
  X509_gmtime_adj(X509_getm_notAfter(certificate), absl::ToInt64Seconds(ends_in));
  X509_set_pubkey(certificate, &key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  return certificate;
}

std::string AltNames(const std::vector<std::string>& names) {
  return absl::StrJoin(names, ",", [](std::string* out, const std::string& name) {
    const bool has_kind = name.starts_with("DNS:") || name.starts_with("URI:");
    absl::StrAppend(out, has_kind ? "" : absl::StrContains(name, "://") ? "URI:" : "DNS:", name);
  });
}

}  // namespace

std::string DerOf(const std::string& pem) {
  std::string all;
  size_t begin = 0;
  for (size_t line = pem.find("-----BEGIN"); line != pem.npos;
       line = pem.find("-----BEGIN", begin)) {
    begin = pem.find('\n', line);
    const size_t end = pem.find("-----END", begin);
    std::string der;
    LEVEE_CHECK(absl::Base64Unescape(pem.substr(begin, end - begin), &der));
    all += der;
    begin = end;
  }
  return all;
}

Authority::Authority(const Authority* issuer)
    : key_(EVP_EC_gen("P-256")),
      certificate_(Unsigned(*key_, issuer == nullptr ? "a test's CA" : "a CA below a test's",
                            -absl::Hours(24), absl::Hours(24))) {
  const Authority& signer = issuer == nullptr ? *this : *issuer;
  X509_set_issuer_name(certificate_, X509_get_subject_name(signer.certificate_));
  AddExtension(*certificate_, *signer.certificate_, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(*certificate_, *signer.certificate_, NID_subject_key_identifier, "hash");
  LEVEE_CHECK(X509_sign(certificate_, signer.key_, EVP_sha256()) > 0);
  pem_ = PemOf(certificate_);
}

Authority::~Authority() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

PemPair Authority::Issue(const Wanted& wanted) const {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = Unsigned(*key, "a test's peer", wanted.begins_in, wanted.ends_in);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_));
  if (!wanted.names.empty()) {
    AddExtension(*certificate, *certificate_, NID_subject_alt_name, AltNames(wanted.names));
  }
  AddExtension(*certificate, *certificate_, NID_authority_key_identifier, "keyid");
  LEVEE_CHECK(X509_sign(certificate, key_, EVP_sha256()) > 0);
  PemPair pair{PemOf(certificate), Pem([&](BIO* to) {
                 return PEM_write_bio_PKCS8PrivateKey(to, key, nullptr, nullptr, 0, nullptr,
                                                      nullptr);
               })};
  X509_free(certificate);
  EVP_PKEY_free(key);
  return pair;
}

}  // namespace levee
