// SPDX-License-Identifier: Apache-2.0
// Whether a sidecar's TLS works.
#pragma once

#include "absl/time/time.h"
#include "doctor/finding.h"
#include "doctor/sidecar_facts.h"

namespace levee::doctor {

// Certificates that expire within this time are warned of.
inline constexpr absl::Duration kExpiresSoon = absl::Hours(7 * 24);

// Returns the findings LD108: whether the sidecar's own certificates can be used, and for how long.
Findings CheckCertificates(const SidecarFacts& facts);

// Returns the findings of the handshakes: LD116 if each is as the configuration wants it, or if an
// endpoint is not connected to; a code of its own, LD121 to LD129, for each that has failed.
Findings CheckHandshakes(const SidecarFacts& facts);

}  // namespace levee::doctor
