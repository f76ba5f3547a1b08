// SPDX-License-Identifier: Apache-2.0
#include "admin/admin_server.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "admin/http_server.h"
#include "admin/page.h"
#include "base/text.h"
#include "google/protobuf/util/json_util.h"
#include "levee/admin/v1/admin.pb.h"
#include "net/address.h"

namespace levee {
namespace {

// The page may load its own files and ask its own server, nothing else.
constexpr const char* kHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n";

// The size of a state of some hundred upstreams.
constexpr size_t kLargeBytes = 128 << 10;

constexpr const char* kJson = "application/json";

HttpResponse Refuse(int status, std::string_view why) {
  return {.status = status, .body = absl::StrCat(Abseil(why), "\n")};
}

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Only messages with extensions or broken UTF-8 cannot be written.
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json + "\n" : "{}\n";
}

// "localhost:9462" -> "localhost", "[::1]:9462" -> "::1"; empty for other text.
std::string_view HostOf(std::string_view authority) {
  if (!authority.starts_with('[')) return authority.substr(0, authority.rfind(':'));
  const size_t end = authority.find(']');
  return end == std::string_view::npos ? "" : authority.substr(1, end - 1);
}

// Whether the host belongs to this server: an address, or localhost. The DNS server of another site
// could let a name point here, and a browser would then take this server for a part of that site.
bool IsOwnHost(std::string_view authority) {
  const std::string_view host = HostOf(authority);
  return absl::EqualsIgnoreCase(Abseil(host), "localhost") ||
         net::Address::FromIp(host, 0).has_value();
}

// Whether a browser asks on behalf of a page other than ours. Same-site is not enough: every port
// of localhost is the same site.
bool IsForeign(const HttpRequest& request) {
  if (request.HasHeader("sec-fetch-site")) {
    const auto site = request.Header("sec-fetch-site");
    if (site != "same-origin" && site != "none") return true;
  }
  if (!request.HasHeader("origin")) return false;
  return request.Header("origin") != absl::StrCat("http://", Abseil(*request.Header("host")));
}

AdminContent::Config ConfigOf(const Snapshot& snapshot) {
  const std::string& hash = snapshot.sha256;
  return {.sha256 = hash,
          .yaml = absl::StrCat("# sha256 ", hash, "\n", snapshot.effective.yaml),
          // The hash becomes one more member of the object.
          .json = absl::StrCat("{\"sha256\": \"", hash, "\", ", snapshot.effective.json.substr(1),
                               "\n")};
}

const PageFile* FindFile(std::string_view path) {
  const auto files = PageFiles();
  const auto file = std::find_if(files.begin(), files.end(),
                                 [path](const PageFile& one) { return one.path == path; });
  return file != files.end() ? &*file : nullptr;
}

std::optional<HttpResponse> RefuseMethod(const HttpRequest& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool drain = request.path == "/drain";
  if (drain ? request.method == "POST" : reads) return std::nullopt;
  const char* allowed = drain ? "POST" : "GET, HEAD";
  return HttpResponse{.status = 405,
                      .headers = absl::StrCat("Allow: ", allowed, "\r\n"),
                      .body = absl::StrCat("only ", allowed, " here\n")};
}

}  // namespace

AdminServer::AdminServer(AdminContent content) : content_(std::move(content)) {}

AdminServer::~AdminServer() = default;

const net::Address& AdminServer::address() const { return server_->address(); }

uint16_t AdminServer::port() const { return server_->port(); }

void AdminServer::Stop() { server_->Stop(); }

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(const ListenAddress& address,
                                                                SidecarView& view,
                                                                StateKeeper& keeper) {
  return Start(address,
               {.state = [&keeper](const auto& request) { return keeper.Read(request); },
                .config = [&view] { return ConfigOf(*view.Config().snapshot); },
                .drain = [&view](bool until_signal) { return view.StartDrain(until_signal); }});
}

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(const ListenAddress& address,
                                                                AdminContent content) {
  std::unique_ptr<AdminServer> server(new AdminServer(std::move(content)));
  auto http = HttpServer::Start({.address = address,
                                 .field = "admin.address",
                                 .headers = kHeaders,
                                 .answer = [answering = server.get()](const HttpRequest& request) {
                                   return answering->Answer(request);
                                 }});
  if (!http.ok()) return http.status();
  server->server_ = *std::move(http);
  return server;
}

HttpResponse AdminServer::Answer(const HttpRequest& request) const {
  const auto host = request.Header("host");
  if (!host.has_value()) return Refuse(400, "one Host header is needed");
  if (!IsOwnHost(*host)) {
    return Refuse(421, "not served under this name; use localhost or the IP address");
  }
  const PageFile* file = FindFile(request.path);
  const std::string& path = request.path;
  const bool drains = content_.drain != nullptr;
  const bool known = file != nullptr || path == "/config" || path == "/api/v1/state" ||
                     (drains && path == "/drain");
  if (!known) {
    return Refuse(404,
                  absl::StrCat("not found: /, /config, /api/v1/state", drains ? ", /drain" : ""));
  }
  if (auto refusal = RefuseMethod(request); refusal.has_value()) return *std::move(refusal);
  if (path == "/config") return Config(request);
  if (path == "/api/v1/state") return State(request);
  if (path == "/drain") return Drain(request);
  return {.type = std::string(file->type), .body = std::string(file->bytes)};
}

HttpResponse AdminServer::Config(const HttpRequest& request) const {
  const auto query = ParseQuery(request.query, {"format"});
  if (!query.ok()) return Refuse(400, std::string(query.status().message()));
  const auto format = query->find("format");
  const auto accepted = request.Header("accept");
  bool json = accepted.has_value() && absl::StrContains(Abseil(*accepted), kJson);
  if (format != query->end()) {
    json = format->second == "json";
    if (!json && format->second != "yaml") return Refuse(400, "format is yaml or json");
  }
  AdminContent::Config config = content_.config();
  if (json && config.json.empty()) return Refuse(404, "there is only the text: ?format=yaml");
  return {
      // The tag is weak, as it is the same in both formats.
      .headers = absl::StrCat("ETag: W/\"", config.sha256, "\"\r\nVary: Accept\r\n"),
      .type = json ? kJson : "text/plain; charset=utf-8",
      .body = std::move(json ? config.json : config.yaml),
  };
}

HttpResponse AdminServer::State(const HttpRequest& request) const {
  const auto query = ParseQuery(request.query, {"since", "upstream", "details_of"});
  if (!query.ok()) return Refuse(400, std::string(query.status().message()));
  const auto given = [&query](std::string_view name) {
    const auto found = query->find(name);
    return found != query->end() ? found->second : std::string();
  };
  admin::v1::GetStateRequest wanted;
  if (query->contains("since")) {
    const std::string digits = given("since");
    uint32_t since = 0;
    const bool number = !digits.empty() && std::all_of(digits.begin(), digits.end(),
                                                       [](char c) { return c >= '0' && c <= '9'; });
    if (!number || !absl::SimpleAtoi(digits, &since)) {
      return Refuse(400, "since is a number of a second: 0 to 4294967295");
    }
    wanted.set_since(since);
  }
  wanted.set_upstream(given("upstream"));
  wanted.set_details_of(given("details_of"));
  HttpResponse response = {.type = kJson};
  {
    const auto state = content_.state(wanted);
    if (!state.ok()) return Refuse(404, std::string(state.status().message()));
    response.body = ToJson(*state);
  }
  // Otherwise the answering thread would keep the memory of its largest answer for ever.
  if (response.body.size() > kLargeBytes) malloc_trim(0);
  return response;
}

HttpResponse AdminServer::Drain(const HttpRequest& request) const {
  if (IsForeign(request)) return Refuse(403, "not at the request of another site's page");
  const auto query = ParseQuery(request.query, {"until"});
  if (!query.ok()) return Refuse(400, std::string(query.status().message()));
  const auto until = query->find("until");
  const bool until_signal = until != query->end();
  if (until_signal && until->second != "signal") return Refuse(400, "until is signal, if given");
  admin::v1::DrainResponse response;
  response.set_began(content_.drain(until_signal));
  return {.status = response.began() ? 202 : 200, .type = kJson, .body = ToJson(response)};
}

}  // namespace levee
