// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_connection.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/values.h"
#include "import/attempts.h"

namespace levee::importer {
namespace {

using config::v1::FieldRule;

void ReadKeepalive(Section section, Field<KeepaliveDraft>& field) {
  constexpr absl::Duration kDefaultPingTimeout = absl::Seconds(20);  // Levee's own
  const absl::Duration interval = section.Duration("interval").value_or(absl::ZeroDuration());
  const absl::Duration timeout = section.Duration("timeout").value_or(kDefaultPingTimeout);
  if (timeout == absl::ZeroDuration()) section.Refuse("timeout", "must be above 0s");
  if (interval > absl::ZeroDuration()) {
    field.value = KeepaliveDraft{Bounded(interval, field.notes), Bounded(timeout, field.notes)};
    if (interval < absl::Minutes(5)) {
      field.notes.emplace_back(
          "Servers that are not told otherwise close connections that PING more often than once in "
          "5m.");
    }
  } else {
    field.notes.emplace_back("connection_keepalive has no interval, so that there is none.");
  }
  AddNote(section.Unread(), field.notes);
}

void ReadHttp2(Section section, UpstreamDraft& upstream) {
  std::optional<Section> keepalive = section.Map("connection_keepalive");
  if (keepalive.has_value()) ReadKeepalive(*std::move(keepalive), upstream.keepalive);
  AddNote(section.Unread(), upstream.keepalive.notes);
}

void ReadCommon(Section section, UpstreamDraft& upstream) {
  SetPositive(section, "max_connection_duration", upstream.max_connection_age);
  AddNote(section.Unread(), upstream.max_connection_age.notes);
}

void ReadHttpProtocolOptions(Section options, UpstreamDraft& upstream) {
  options.Ignore({"@type"});
  // Levee speaks HTTP/2 to every endpoint, whichever of these says so.
  for (const char* key :
       {"explicit_http_config", "use_downstream_protocol_config", "auto_config"}) {
    std::optional<Section> config = options.Map(key);
    if (!config.has_value()) continue;
    std::optional<Section> http2 = config->Map("http2_protocol_options");
    if (http2.has_value()) ReadHttp2(*std::move(http2), upstream);
    AddNote(config->Unread(), upstream.notes);
  }
  std::optional<Section> common = options.Map("common_http_protocol_options");
  if (common.has_value()) ReadCommon(*std::move(common), upstream);
  AddNote(options.Unread(), upstream.notes);
}

// Adds the name of a certificate, or a note that it is none.
void AddAltName(const std::string& type, const std::string& value, Field<TlsDraft>& field) {
  const bool uri = type == "URI" || absl::StrContains(value, "://");
  const std::string name = absl::StrCat(uri ? "uri:" : "dns:", value);
  const bool known = type.empty() || type == "URI" || type == "DNS";
  if (known && ParseText(FieldRule::ALT_NAME, name).ok()) {
    field.value->subject_alt_names.push_back(name);
  } else {
    field.notes.push_back(absl::StrCat("The certificate's name ", Quoted(value), " (",
                                       type.empty() ? "of any type" : type,
                                       ") has no equivalent."));
  }
}

void ReadAltName(Section entry, Field<TlsDraft>& field) {
  const std::string type = entry.Text("san_type").value_or("");
  std::optional<Section> matcher = entry.Map("matcher");
  Section& match = matcher.has_value() ? *matcher : entry;
  const std::optional<std::string> exact = match.Text("exact");
  if (exact.has_value()) AddAltName(type, *exact, field);
  AddNote(match.Unread(), field.notes);
  if (matcher.has_value()) AddNote(entry.Unread(), field.notes);
}

// Notes the file that is to be named as the field `own` of the policy.
void NoteFile(Section source, const std::string& key, const std::string& own, Notes& notes) {
  const std::optional<std::string> file = source.Text("filename");
  if (file.has_value()) {
    notes.push_back(absl::StrCat(key, " ", Quoted(*file),
                                 ": make the file readable for Levee, and name it as `", own,
                                 "`."));
  }
  const std::vector<std::string> left = source.Left();
  if (!left.empty()) {
    notes.push_back(absl::StrCat(key, " (", absl::StrJoin(left, ", "),
                                 "): write it to a file, and name that as `", own, "`."));
  }
}

void ReadValidation(Section validation, Field<TlsDraft>& field) {
  std::optional<Section> ca = validation.Map("trusted_ca");
  if (ca.has_value()) NoteFile(*std::move(ca), "trusted_ca", "ca", field.notes);
  validation.Ignore({"system_root_certs"});
  for (const char* key : {"match_typed_subject_alt_names", "match_subject_alt_names"}) {
    for (Section& entry : validation.Maps(key)) ReadAltName(std::move(entry), field);
  }
  AddNote(validation.Unread(), field.notes);
}

void ReadCertificates(Section& common, Notes& notes) {
  for (Section& certificate : common.Maps("tls_certificates")) {
    for (const auto& [key, own] :
         {std::pair{"certificate_chain", "certificate"}, {"private_key", "key"}}) {
      std::optional<Section> source = certificate.Map(key);
      if (source.has_value()) NoteFile(*std::move(source), key, own, notes);
    }
    AddNote(certificate.Unread(), notes);
  }
}

void ReadTlsContext(Section context, Field<TlsDraft>& field) {
  field.value.emplace();
  field.value->ca = "system";
  const std::string sni = context.Text("sni").value_or("");
  if (ParseText(FieldRule::HOST_NAME, sni).ok()) {
    field.value->server_name = sni;
  } else if (!sni.empty()) {
    field.notes.push_back(absl::StrCat("sni ", Quoted(sni), " has no equivalent."));
  }
  std::optional<Section> common = context.Map("common_tls_context");
  bool validated = false;
  if (common.has_value()) {
    ReadCertificates(*common, field.notes);
    std::optional<Section> validation = common->Map("validation_context");
    if (validation.has_value()) ReadValidation(*std::move(validation), field);
    validated = validation.has_value();
    common->Ignore({"alpn_protocols"});  // It is h2.
    AddNote(common->Unread(), field.notes);
  }
  if (!validated) {
    field.notes.emplace_back(
        "Nothing here says which certificates are trusted; Levee takes those that the system "
        "does.");
  }
  context.Ignore({"@type"});
  AddNote(context.Unread(), field.notes);
}

}  // namespace

void ReadProtocolOptions(Section& cluster, UpstreamDraft& upstream) {
  std::optional<Section> http2 = cluster.Map("http2_protocol_options");
  if (http2.has_value()) ReadHttp2(*std::move(http2), upstream);
  std::optional<Section> common = cluster.Map("common_http_protocol_options");
  if (common.has_value()) ReadCommon(*std::move(common), upstream);
  std::optional<Section> typed = cluster.Map("typed_extension_protocol_options");
  if (!typed.has_value()) return;
  for (const std::string& key : typed->Left()) {
    if (!key.ends_with(".HttpProtocolOptions")) continue;
    std::optional<Section> options = typed->Map(key);
    if (options.has_value()) ReadHttpProtocolOptions(*std::move(options), upstream);
  }
  AddNote(typed->Unread(), upstream.notes);
}

void ReadTransportSocket(Section& cluster, UpstreamDraft& upstream) {
  std::optional<Section> socket = cluster.Map("transport_socket");
  if (!socket.has_value()) return;
  const std::string name = socket->Text("name").value_or("");
  std::optional<Section> config = socket->Map("typed_config");
  const bool tls =
      config.has_value() && config->Text("@type").value_or("").ends_with(".UpstreamTlsContext");
  if (tls) {
    ReadTlsContext(*std::move(config), upstream.tls);
  } else if (name.ends_with("tls")) {
    upstream.notes.emplace_back(
        "transport_socket is not read: say in `tls` of the upstream which certificates are "
        "trusted.");
  } else {
    upstream.notes.push_back(absl::StrCat("transport_socket ", Quoted(name), " is not read."));
  }
  AddNote(socket->Unread(), upstream.notes);
}

}  // namespace levee::importer
