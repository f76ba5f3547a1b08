// SPDX-License-Identifier: Apache-2.0
// Reads and checks the receiver of spans: its address, and the metadata for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

struct ReceiverAddress {
  std::string host;  // of an IPv6 literal without its brackets
  uint16_t port = 0;
  bool tls = false;
};

// Reads HOST:PORT, http://HOST:PORT, or https://HOST:PORT, which means TLS. Returns nullopt for any
// other text.
std::optional<ReceiverAddress> ParseReceiver(const std::string& text);

// Names in lower case, and values.
using ReceiverHeaders = std::vector<std::pair<std::string, std::string>>;

// Reports an address that is none.
void ValidateReceiver(const config::v1::Config& config, const Positions& positions,
                      FaultList& faults);

// Returns what otlp.headers_file has, by its absolute path; nothing without one. Faults are
// reported at their lines, without the text that stands there, which may be secret.
ReceiverHeaders LoadReceiverHeaders(const config::v1::Config& config, const Positions& positions,
                                    FaultList& faults);

// Warns of metadata that others can read on its way.
void FindReceiverWarnings(const config::v1::Config& config, const Positions& positions,
                          FaultList& warnings);

}  // namespace levee
