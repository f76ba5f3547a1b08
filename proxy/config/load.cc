// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "config/build.h"
#include "config/command_line.h"
#include "config/descriptor_set.h"
#include "config/field_checker.h"
#include "config/load_stores.h"
#include "config/load_tls.h"
#include "config/merge.h"
#include "config/positions.h"
#include "config/read_file.h"
#include "config/receiver.h"
#include "config/store_warnings.h"
#include "config/tls_warnings.h"
#include "config/validate.h"
#include "config/validate_inbound.h"
#include "config/validate_peers.h"
#include "config/validate_stores.h"
#include "config/values.h"
#include "config/warnings.h"
#include "config/yaml_reader.h"

namespace levee {
namespace {

// Returns the file's content; nullopt, with a fault, if it cannot be read.
std::optional<std::string> ReadConfigFile(const std::string& name, FaultList& faults) {
  absl::StatusOr<std::string> text = ReadFile(name, kMaxConfigFileBytes);
  if (text.ok()) return *std::move(text);
  const bool large = absl::IsOutOfRange(text.status());
  faults.Add({name, 0, 0, ""}, large ? CheckCode::kFileTooLarge : CheckCode::kUnreadableFile,
             large ? "is larger than 1 MiB; split it into several files"
                   : absl::StrCat("cannot be read: ", text.status().message()));
  return std::nullopt;
}

// A file that has policies, but none named default, gets the built-in one too.
void KeepDefaultPolicy(ReadConfig& read) {
  if (!read.positions.Has("policies") || read.positions.Broken("policies")) return;
  for (const config::v1::Policy& policy : read.config.policies()) {
    if (policy.name() == "default") return;
  }
  read.config.add_policies()->set_name("default");
}

// Calls that are hedged are not retried, nor are calls to the application, so the default of
// retry.max_attempts would contradict.
void RetryNothingByDefault(ReadConfig& read) {
  for (config::v1::Policy& policy : *read.config.mutable_policies()) {
    const bool never = policy.has_hedge() || policy.has_guard();
    if (never && !policy.retry().has_max_attempts()) policy.mutable_retry()->set_max_attempts(1);
  }
}

// CONNECT leads anywhere, which is for the application, and not for its callers. With TLS a caller
// speaks HTTP/2 and nothing else.
void TunnelNothingInbound(config::v1::Config& config) {
  for (config::v1::Listener& listener : *config.mutable_listeners()) {
    const bool inbound = listener.direction() == config::v1::Listener::DIRECTION_INBOUND;
    if ((!inbound && !listener.has_tls()) || listener.capture_size() > 0) continue;
    listener.add_capture(config::v1::Listener::CAPTURE_H2C);
  }
}

// Only Unix sockets have permissions; elsewhere the default would mean nothing.
void ForgetModesOfPorts(config::v1::Config& config) {
  for (config::v1::Listener& listener : *config.mutable_listeners()) {
    if (!listener.address().starts_with("unix:")) listener.clear_mode();
  }
}

// The bounds of an adaptive limit mean nothing to another one.
void ForgetBoundsOfFixedLimits(config::v1::Config& config) {
  for (config::v1::Policy& policy : *config.mutable_policies()) {
    if (!policy.has_guard() || policy.guard().concurrency().limit() == "adaptive") continue;
    config::v1::Guard::Concurrency& limit = *policy.mutable_guard()->mutable_concurrency();
    limit.clear_initial();
    limit.clear_min();
    limit.clear_max();
  }
}

// Beside a Workload API a file that is `none` means what it means when it is left out.
void ForgetFilesBesideWorkloadApis(config::v1::Config& config) {
  for (config::v1::Upstream& upstream : *config.mutable_upstreams()) {
    if (!IsGiven(upstream.tls().spiffe())) continue;
    config::v1::UpstreamTls& tls = *upstream.mutable_tls();
    if (tls.certificate() == "none") tls.clear_certificate();
    if (tls.key() == "none") tls.clear_key();
  }
  for (config::v1::Listener& listener : *config.mutable_listeners()) {
    if (!IsGiven(listener.tls().spiffe())) continue;
    if (listener.tls().client_ca() == "none") listener.mutable_tls()->clear_client_ca();
  }
}

// Makes the paths of files absolute: each is relative to the file that names it. Returns the files
// that are read as parts of the configuration, each once.
std::vector<std::string> ResolvePaths(ReadConfig& read) {
  std::vector<std::string> reads;
  const auto resolve = [&](const std::string& field, std::string* named) {
    if (!IsGiven(*named)) return;
    *named = PathBeside(read.positions.Find(field).file, *named);
    if (std::find(reads.begin(), reads.end(), *named) == reads.end()) reads.push_back(*named);
  };
  const auto resolve_tls = [&](const std::string& path, config::v1::UpstreamTls& tls) {
    if (tls.has_ca() && tls.ca() != "system") resolve(path + "ca", tls.mutable_ca());
    if (tls.has_certificate()) resolve(path + "certificate", tls.mutable_certificate());
    if (tls.has_key()) resolve(path + "key", tls.mutable_key());
  };
  for (int i = 0; i < read.config.upstreams_size(); ++i) {
    config::v1::Upstream& upstream = *read.config.mutable_upstreams(i);
    const std::string path = absl::StrCat("upstreams[", i, "].");
    if (upstream.has_descriptor_set()) {
      resolve(path + "descriptor_set", upstream.mutable_descriptor_set());
    }
    if (upstream.has_tls()) resolve_tls(path + "tls.", *upstream.mutable_tls());
  }
  for (int i = 0; i < read.config.stores_size(); ++i) {
    config::v1::Store& store = *read.config.mutable_stores(i);
    const std::string path = absl::StrCat("stores[", i, "].");
    if (store.has_password_file()) resolve(path + "password_file", store.mutable_password_file());
    if (store.sentinel().has_password_file()) {
      resolve(path + "sentinel.password_file", store.mutable_sentinel()->mutable_password_file());
    }
    if (store.has_tls()) resolve_tls(path + "tls.", *store.mutable_tls());
  }
  for (int i = 0; i < read.config.listeners_size(); ++i) {
    if (!read.config.listeners(i).has_tls()) continue;
    config::v1::ListenerTls& tls = *read.config.mutable_listeners(i)->mutable_tls();
    const std::string path = absl::StrCat("listeners[", i, "].tls.");
    if (tls.has_certificate()) resolve(path + "certificate", tls.mutable_certificate());
    if (tls.has_key()) resolve(path + "key", tls.mutable_key());
    if (tls.has_client_ca()) resolve(path + "client_ca", tls.mutable_client_ca());
  }
  if (read.config.otlp().has_headers_file()) {
    resolve("otlp.headers_file", read.config.mutable_otlp()->mutable_headers_file());
  }
  const std::string& log = read.config.access_log().path();
  if (!log.empty() && log != "none" && log != "stdout") {
    read.config.mutable_access_log()->set_path(
        PathBeside(read.positions.Find("access_log.path").file, log));
  }
  return reads;
}

// A snapshot was built from these.
struct Parts {
  ReadConfig read;
  LoadedFiles files;
  tls::SvidSource svids;
};

std::shared_ptr<const Snapshot> Renewed(const Parts& parts) {
  LoadedFiles files = parts.files;
  RenewTls(parts.read.config, parts.read.positions, parts.svids, files.tls);
  return Build(parts.read.config, parts.read.positions, files);
}

// The files of `input` are `texts`. `kept`: as `complete` of CheckConfig, if it is not nullptr.
CheckedConfig Check(const std::vector<ConfigText>& texts, const ConfigInput& input,
                    FaultList faults, const Room& room, ReadConfig* kept = nullptr) {
  std::vector<std::string> names;
  bool complete = faults.empty();
  ReadConfig merged;
  std::optional<ReplacedEntry> first_replaced;
  for (const auto& [name, text] : texts) {
    ReadConfig read;
    // If a file was read only in part, it is not known what the rest contains.
    if (ReadYaml(name, text, read.config, read.positions, faults)) {
      const std::optional<ReplacedEntry> replaced = Merge(read, merged);
      if (!first_replaced.has_value()) first_replaced = replaced;
    } else {
      complete = false;
    }
    names.push_back(name);
  }
  TakeOptions(input, merged);
  CheckedConfig checked;
  checked.replaced = first_replaced;
  checked.reads = ResolvePaths(merged);
  KeepDefaultPolicy(merged);
  RetryNothingByDefault(merged);
  TunnelNothingInbound(merged.config);
  FieldChecker(merged.positions, faults).CheckMessage("", merged.config);
  // References to a part that could not be read would be reported as dangling.
  if (complete) {
    Validate(merged.config, merged.positions, faults);
    ValidateInbound(merged.config, merged.positions, faults);
    ValidatePeers(merged.config, merged.positions, faults);
    ValidateStores(merged.config, merged.positions, faults);
    ValidateReceiver(merged.config, merged.positions, faults);
  }
  ForgetFilesBesideWorkloadApis(merged.config);
  const LoadedFiles files = {
      .methods = LoadDescriptorSets(merged.config, merged.positions, faults),
      .tls = LoadTls(merged.config, merged.positions, input.svids, faults),
      .passwords = LoadStorePasswords(merged.config, merged.positions, faults),
      .headers = LoadReceiverHeaders(merged.config, merged.positions, faults)};
  ForgetModesOfPorts(merged.config);
  ForgetBoundsOfFixedLimits(merged.config);
  FaultList warnings(CheckCode::kMoreWarnings);
  FindWarnings(merged.config, merged.positions, files.methods, faults, complete, warnings);
  FindTlsWarnings(merged.config, merged.positions, warnings);
  FindReceiverWarnings(merged.config, merged.positions, warnings);
  if (faults.empty()) {
    checked.snapshot = Build(merged.config, merged.positions, files);
    FindStoreWarnings(merged.config, merged.positions, warnings);
    FindRoomWarnings(*checked.snapshot, merged.positions, room, warnings);
    if (!files.tls.workload_apis.empty()) {
      const auto parts = std::make_shared<const Parts>(Parts{merged, files, input.svids});
      checked.renew = [parts] { return Renewed(*parts); };
    }
    if (kept != nullptr) *kept = std::move(merged);
  }
  checked.warnings = warnings.Sorted(names);
  checked.faults = faults.Sorted(names);
  return checked;
}

absl::StatusOr<std::shared_ptr<const Snapshot>> ToStatus(CheckedConfig checked) {
  if (checked.snapshot == nullptr) {
    return absl::InvalidArgumentError(FormatFaults(checked.faults));
  }
  return std::move(checked.snapshot);
}

}  // namespace

CheckedConfig CheckConfig(const ConfigInput& input) {
  FaultList faults;
  std::vector<ConfigText> texts;
  std::vector<std::string> empty;
  for (const std::string& name : input.files) {
    if (name == kStandardInput) {
      texts.push_back({name, input.standard_input});
      continue;
    }
    std::optional<std::string> text = ReadConfigFile(name, faults);
    if (!text.has_value()) continue;
    if (text->empty()) empty.push_back(name);
    texts.push_back({name, *std::move(text)});
  }
  CheckedConfig checked = Check(texts, input, std::move(faults), {});
  checked.empty = std::move(empty);
  return checked;
}

CheckedConfig CheckConfig(const std::vector<ConfigText>& texts,
                          const std::optional<std::string>& to, FaultList unread,
                          const Room& room) {
  return Check(texts, {.files = {}, .to = to}, std::move(unread), room);
}

CheckedConfig CheckConfig(const std::vector<ConfigText>& texts, FaultList unread,
                          ReadConfig& complete) {
  return Check(texts, {}, std::move(unread), {}, &complete);
}

absl::StatusOr<std::shared_ptr<const Snapshot>> ParseConfig(const std::string& name,
                                                            const std::string& text) {
  return ToStatus(CheckConfig({{name, text}}, std::nullopt));
}

}  // namespace levee
