// SPDX-License-Identifier: Apache-2.0
#include "server/connection_events.h"

#include <iterator>
#include <utility>

#include "absl/hash/hash.h"

namespace levee {
namespace {

// Enough to tell a TLS handshake, a text protocol or a scanner.
constexpr size_t kShownBytes = 32;

std::string PeerName(const net::Address& peer) {
  return peer.is_unix() && peer.unix_path().empty() ? "unix" : peer.ToString();
}

}  // namespace

void NamePeer(const net::Address& peer, std::string identity, bool events,
              ConnectionOrigin& origin) {
  origin.sender = identity.empty() ? absl::HashOf(peer.HostBytes()) : absl::HashOf(1, identity);
  origin.identity = std::move(identity);
  if (events) origin.peer = PeerName(peer);
}

std::vector<LogField> ConnectionFields(const ConnectionOrigin& origin, std::vector<LogField> more) {
  std::vector<LogField> fields = {{"listener", origin.listener->name}, {"peer", origin.peer}};
  const std::string& to = origin.leads_to();
  if (!to.empty()) fields.emplace_back("destination", to);
  std::move(more.begin(), more.end(), std::back_inserter(fields));
  return fields;
}

std::vector<LogField> FirstBytesFields(const AcceptedConnection& connection,
                                       std::string_view reason) {
  return ConnectionFields(
      connection.origin(),
      {{"reason", reason}, {"first_bytes", connection.received().substr(0, kShownBytes)}});
}

}  // namespace levee
