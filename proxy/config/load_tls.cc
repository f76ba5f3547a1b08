// SPDX-License-Identifier: Apache-2.0
#include "config/load_tls.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hex_sha256.h"
#include "config/checked.h"
#include "config/link_cache.h"
#include "config/read_file.h"
#include "config/values.h"

namespace levee {
namespace {

namespace v1 = config::v1;

// Where operating systems keep the CA certificates that they trust: Debian and Alpine, Fedora and
// its relatives, and OpenSSL as it comes.
constexpr const char* kSystemBundles[] = {"/etc/ssl/certs/ca-certificates.crt",
                                          "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};

constexpr char kSystem[] = "system";

// How often files are read that are replaced meanwhile.
constexpr int kTries = 3;

std::string SystemBundle() {
  std::error_code unknown;
  for (const char* bundle : kSystemBundles) {
    if (std::filesystem::exists(bundle, unknown)) return bundle;
  }
  return kSystemBundles[0];
}

tls::Version VersionOf(const std::string& text) {
  return text == "1.2" ? tls::Version::k12 : tls::Version::k13;
}

class Loader {
 public:
  Loader(const Positions& positions, const tls::SvidSource& svids, FaultList& faults)
      : positions_(positions), svids_(svids), faults_(faults) {}

  // `http2`: as tls::ContextOptions has it.
  std::optional<tls::ClientSource> Client(const std::string& path, const v1::UpstreamTls& message,
                                          bool http2, std::string& digest);
  std::shared_ptr<const tls::Context> Listener(const std::string& path,
                                               const v1::ListenerTls& message, std::string& digest);

  // The part of the result that concerns Workload APIs.
  void Finish(LoadedTls& loaded) const;

  // Whether files that were read may have been replaced meanwhile.
  bool Overtaken() const { return links_.Overtaken(); }

 private:
  using Trust = std::shared_ptr<const tls::TrustStore>;
  using Svid = std::shared_ptr<const tls::Svid>;

  void Add(const std::string& path, CheckCode code, const std::string& file,
           absl::string_view text) {
    faults_.Add(positions_.Find(path), code, absl::StrCat(Quoted(file), " ", text));
  }
  std::optional<std::string> Read(const std::string& path, const std::string& file);
  std::optional<tls::Credentials> ReadCredentials(const std::string& path,
                                                  const std::string& certificate,
                                                  const std::string& key);
  Trust ReadTrust(const std::string& path, const std::string& file);
  std::shared_ptr<const tls::Context> Make(const std::string& path, tls::Role role,
                                           tls::ContextOptions options, const std::string& files);
  std::shared_ptr<const tls::Context> MakeFromFiles(const std::string& path,
                                                    const v1::UpstreamTls& message,
                                                    tls::ContextOptions options);
  Svid AskFor(const std::string& socket);
  std::shared_ptr<const tls::Context> MakeFromApi(tls::Role role, const std::string& socket,
                                                  const tls::ContextOptions& options,
                                                  bool judges_peers);

  const Positions& positions_;
  const tls::SvidSource& svids_;
  FaultList& faults_;
  LinkCache links_;
  std::map<std::string, Trust> trusted_;  // by file: one with hundreds of CAs is read once
  std::string content_;                   // of the files of one part
  std::map<std::string, Svid> asked_;     // by socket: all parts have the same of one
};

std::optional<std::string> Loader::Read(const std::string& path, const std::string& file) {
  absl::StatusOr<std::string> text = ReadFile(links_.Follow(file).string(), kMaxPemBytes);
  if (text.ok()) {
    absl::StrAppend(&content_, text->size(), " ", *text);
    return *std::move(text);
  }
  const bool large = absl::IsOutOfRange(text.status());
  Add(path, large ? CheckCode::kFileTooLarge : CheckCode::kUnreadableFile, file,
      large ? "is larger than 4 MiB, and holds certificates or a key"
            : absl::StrCat("cannot be read: ", text.status().message()));
  return std::nullopt;
}

std::optional<tls::Credentials> Loader::ReadCredentials(const std::string& path,
                                                        const std::string& certificate,
                                                        const std::string& key) {
  if (!IsGiven(certificate) || !IsGiven(key)) return std::nullopt;  // That was reported.
  std::optional<std::string> certificate_pem = Read(path + ".certificate", certificate);
  std::optional<std::string> key_pem = Read(path + ".key", key);
  if (!certificate_pem.has_value() || !key_pem.has_value()) return std::nullopt;
  return tls::Credentials{*std::move(certificate_pem), *std::move(key_pem)};
}

Loader::Trust Loader::ReadTrust(const std::string& path, const std::string& file) {
  const std::string name = file == kSystem ? SystemBundle() : file;
  const std::optional<std::string> pem = Read(path, name);
  if (!pem.has_value()) return nullptr;
  Trust& known = trusted_[name];
  if (known != nullptr) return known;
  absl::StatusOr<Trust> trust = tls::TrustStore::Parse(*pem);
  if (trust.ok()) return known = *std::move(trust);
  Add(path, CheckCode::kCertificate, name, trust.status().message());
  return nullptr;
}

std::shared_ptr<const tls::Context> Loader::Make(const std::string& path, tls::Role role,
                                                 tls::ContextOptions options,
                                                 const std::string& files) {
  auto context = tls::Context::Make(role, std::move(options));
  if (context.ok()) return *std::move(context);
  faults_.Add(positions_.Find(path + ".certificate"), CheckCode::kCertificate,
              absl::StrCat(context.status().message(), " (", files, ")"));
  return nullptr;
}

Loader::Svid Loader::AskFor(const std::string& socket) {
  const auto [asked, is_new] = asked_.try_emplace(socket);
  if (is_new && svids_ != nullptr) asked->second = svids_(socket);
  return asked->second;
}

// One that has expired since is as good as none, and is no fault of the configuration.
std::shared_ptr<const tls::Context> Loader::MakeFromApi(tls::Role role, const std::string& socket,
                                                        const tls::ContextOptions& options,
                                                        bool judges_peers) {
  std::string waits_for = absl::StrCat("the Workload API at ", socket, " has given no certificate");
  if (const Svid svid = AskFor(socket); svid != nullptr) {
    tls::ContextOptions with = options;
    with.credentials = svid->credentials;
    with.source = socket;
    if (judges_peers) {
      with.trusted = Checked(tls::TrustStore::Parse(svid->bundle));
      with.trust_domain = tls::TrustDomainOf(svid->id);
    }
    auto context = tls::Context::Make(role, std::move(with));
    if (context.ok()) return *std::move(context);
    absl::StrAppend(&waits_for, " that can be used: ", context.status().message());
  }
  return Checked(tls::Context::Make(role, {.source = socket, .waits_for = std::move(waits_for)}));
}

void Loader::Finish(LoadedTls& loaded) const {
  std::string content;
  for (const auto& [socket, svid] : asked_) {
    loaded.workload_apis.push_back(socket);
    if (svid == nullptr) continue;
    for (const std::string* part :
         {&socket, &svid->credentials.certificate, &svid->credentials.key, &svid->bundle}) {
      absl::StrAppend(&content, part->size(), " ", *part);
    }
  }
  if (!content.empty()) loaded.svids_digest = HexSha256(content);
}

std::optional<tls::ClientSource> Loader::Client(const std::string& path,
                                                const v1::UpstreamTls& message, bool http2,
                                                std::string& digest) {
  content_.clear();
  tls::ContextOptions options = {.min_version = VersionOf(message.min_version()), .http2 = http2};
  for (const std::string& text : message.subject_alt_names()) {
    const auto name = tls::ParseAltName(text);
    if (!name.ok()) return std::nullopt;  // It was reported.
    options.names.push_back(*name);
  }
  if (IsGiven(message.spiffe()) && !IsSocket(message.spiffe())) return std::nullopt;
  tls::ClientSource source;
  source.context = IsGiven(message.spiffe())
                       ? MakeFromApi(tls::Role::kClient, message.spiffe(), options,
                                     /*judges_peers=*/!message.insecure_skip_verify())
                       : MakeFromFiles(path, message, std::move(options));
  if (source.context == nullptr) return std::nullopt;
  if (IsGiven(message.server_name())) source.server_name = message.server_name();
  source.configured = message.SerializeAsString();
  // An endpoint that waits to connect again need not wait longer once there is a certificate.
  if (!source.context->options().waits_for.empty()) source.configured += " without a certificate";
  digest = HexSha256(content_);
  return source;
}

std::shared_ptr<const tls::Context> Loader::MakeFromFiles(const std::string& path,
                                                          const v1::UpstreamTls& message,
                                                          tls::ContextOptions options) {
  if (!message.insecure_skip_verify()) {
    options.trusted = ReadTrust(path + ".ca", message.ca());
    if (options.trusted == nullptr) return nullptr;
  }
  if (IsGiven(message.certificate())) {
    options.credentials = ReadCredentials(path, message.certificate(), message.key());
    if (!options.credentials.has_value()) return nullptr;
    options.source = message.certificate();
  }
  return Make(path, tls::Role::kClient, std::move(options),
              absl::StrCat(message.certificate(), ", ", message.key()));
}

std::shared_ptr<const tls::Context> Loader::Listener(const std::string& path,
                                                     const v1::ListenerTls& message,
                                                     std::string& digest) {
  content_.clear();
  tls::ContextOptions options = {
      .client_certificate_required =
          message.client_certificate() != v1::ListenerTls::CLIENT_CERTIFICATE_OPTIONAL,
      .min_version = VersionOf(message.min_version())};
  if (IsGiven(message.spiffe())) {
    if (!IsSocket(message.spiffe())) return nullptr;
    return MakeFromApi(tls::Role::kServer, message.spiffe(), options, /*judges_peers=*/true);
  }
  options.credentials = ReadCredentials(path, message.certificate(), message.key());
  if (!options.credentials.has_value()) return nullptr;
  options.source = message.certificate();
  if (IsGiven(message.client_ca())) {
    options.trusted = ReadTrust(path + ".client_ca", message.client_ca());
    if (options.trusted == nullptr) return nullptr;
  }
  digest = HexSha256(content_);
  return Make(path, tls::Role::kServer, std::move(options),
              absl::StrCat(message.certificate(), ", ", message.key()));
}

LoadedTls LoadParts(const v1::Config& config, const Positions& positions, Loader& loader) {
  LoadedTls loaded;
  for (int i = 0; i < config.upstreams_size(); ++i) {
    loaded.upstreams.emplace_back();
    std::string& digest = loaded.upstream_digests.emplace_back();
    const std::string path = absl::StrCat("upstreams[", i, "].tls");
    if (!config.upstreams(i).has_tls() || positions.Broken(path)) continue;
    loaded.upstreams.back() =
        loader.Client(path, config.upstreams(i).tls(), /*http2=*/true, digest);
  }
  for (int i = 0; i < config.listeners_size(); ++i) {
    loaded.listeners.emplace_back();
    std::string& digest = loaded.listener_digests.emplace_back();
    const std::string path = absl::StrCat("listeners[", i, "].tls");
    if (!config.listeners(i).has_tls() || positions.Broken(path)) continue;
    loaded.listeners.back() = loader.Listener(path, config.listeners(i).tls(), digest);
  }
  for (int i = 0; i < config.stores_size(); ++i) {
    loaded.stores.emplace_back();
    std::string& digest = loaded.store_digests.emplace_back();
    const std::string path = absl::StrCat("stores[", i, "].tls");
    if (!config.stores(i).has_tls() || positions.Broken(path)) continue;
    loaded.stores.back() = loader.Client(path, config.stores(i).tls(), /*http2=*/false, digest);
  }
  loader.Finish(loaded);
  return loaded;
}

}  // namespace

LoadedTls LoadTls(const v1::Config& config, const Positions& positions,
                  const tls::SvidSource& svids, FaultList& faults) {
  // While files are replaced, those of before may be gone already.
  for (int tries = 1;; ++tries) {
    FaultList found;
    Loader loader(positions, svids, found);
    LoadedTls loaded = LoadParts(config, positions, loader);
    if (found.empty() || tries == kTries || !loader.Overtaken()) {
      faults.Add(found);
      return loaded;
    }
  }
}

void RenewTls(const v1::Config& config, const Positions& positions, const tls::SvidSource& svids,
              LoadedTls& loaded) {
  FaultList faults;
  Loader loader(positions, svids, faults);
  std::string no_files;  // These parts have none.
  const auto renew = [&](const v1::UpstreamTls& message, bool http2,
                         std::optional<tls::ClientSource>& source) {
    if (IsSocket(message.spiffe())) source = loader.Client("", message, http2, no_files);
  };
  for (int i = 0; i < config.upstreams_size(); ++i) {
    renew(config.upstreams(i).tls(), /*http2=*/true, loaded.upstreams[static_cast<size_t>(i)]);
  }
  for (int i = 0; i < config.listeners_size(); ++i) {
    const v1::ListenerTls& message = config.listeners(i).tls();
    if (!IsSocket(message.spiffe())) continue;
    loaded.listeners[static_cast<size_t>(i)] = loader.Listener("", message, no_files);
  }
  for (int i = 0; i < config.stores_size(); ++i) {
    renew(config.stores(i).tls(), /*http2=*/false, loaded.stores[static_cast<size_t>(i)]);
  }
  LEVEE_CHECK(faults.empty());
  loaded.workload_apis.clear();
  loaded.svids_digest.clear();
  loader.Finish(loaded);
}

}  // namespace levee
