// SPDX-License-Identifier: Apache-2.0
// Reads the certificates and keys that a configuration names.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"
#include "tls/client_source.h"
#include "tls/context.h"
#include "tls/svid.h"

namespace levee {

// Larger files are refused unread: the bundle of an operating system has 250 KB.
inline constexpr size_t kMaxPemBytes = 4 << 20;

// The parts of a configuration that speak TLS, as its files have it.
struct LoadedTls {
  std::vector<std::optional<tls::ClientSource>> upstreams;     // one per upstream
  std::vector<std::shared_ptr<const tls::Context>> listeners;  // one per listener, or nullptr
  std::vector<std::optional<tls::ClientSource>> stores;        // one per store
  // Of the content of the files, in the same order; empty where there is no TLS.
  std::vector<std::string> upstream_digests;
  std::vector<std::string> listener_digests;
  std::vector<std::string> store_digests;

  // The sockets of Workload APIs that these parts name, each once, and the digest of what these
  // have given; empty without any.
  std::vector<std::string> workload_apis;
  std::string svids_digest;
};

// Reads the files, by absolute paths, all of the same time: see LinkCache. A fault of a file is
// reported at the place that names it. A part with a fault is left out. A certificate must be valid
// now, by the clock of OpenSSL, which judges those of peers as well.
//
// A part that names a Workload API takes what `svids` has of it. Where that has nothing that can be
// used now, the part is there, and its connections fail until there is something. `svids` may be
// empty: then nothing is known.
LoadedTls LoadTls(const config::v1::Config& config, const Positions& positions,
                  const tls::SvidSource& svids, FaultList& faults);

// Makes the parts that name a Workload API anew, with what `svids` has of it now. The others stay.
// `config` had no fault when LoadTls made `loaded`.
void RenewTls(const config::v1::Config& config, const Positions& positions,
              const tls::SvidSource& svids, LoadedTls& loaded);

}  // namespace levee
