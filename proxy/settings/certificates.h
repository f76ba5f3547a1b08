// SPDX-License-Identifier: Apache-2.0
// The certificates that a configuration shows to others, for people and for metrics.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "settings/snapshot.h"
#include "tls/context.h"

namespace levee {

struct OwnCertificate {
  enum class Of { kUpstream, kListener, kStore };
  Of of = Of::kUpstream;
  std::string name;      // of the upstream, listener or store
  std::string source;    // a file, or the socket of a Workload API
  std::string identity;  // as tls::Context has it; empty: there is none yet
  absl::Time begins;     // infinite in the past if there is none yet
  absl::Time expires;    // infinite if there is none yet

  bool there() const { return expires < absl::InfiniteFuture(); }
};

// Returns one for each part of the configuration that has, or waits for, a certificate of its own.
inline std::vector<OwnCertificate> OwnCertificates(const Snapshot& snapshot) {
  using Of = OwnCertificate::Of;
  std::vector<OwnCertificate> found;
  const auto add = [&found](Of of, const std::string& name, const tls::Context& context) {
    const std::string& source = context.options().source;
    if (source.empty()) return;
    found.push_back({of, name, source, context.identity(), context.begins(), context.expires()});
  };
  for (const UpstreamSpec& upstream : snapshot.upstreams) {
    if (upstream.tls.has_value()) add(Of::kUpstream, upstream.name, *upstream.tls->context);
  }
  for (const ListenerSpec& listener : snapshot.listeners) {
    if (listener.tls != nullptr) add(Of::kListener, listener.name, *listener.tls);
  }
  for (const StoreSpec& store : snapshot.stores) {
    if (store.tls.has_value()) add(Of::kStore, store.name, *store.tls->context);
  }
  return found;
}

}  // namespace levee
