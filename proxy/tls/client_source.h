// SPDX-License-Identifier: Apache-2.0
// Where the connections to an upstream's endpoints get their TLS from.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "tls/context.h"
#include "tls/session.h"

namespace levee::tls {

// A copy belongs to one thread; the context is shared.
struct ClientSource {
  std::shared_ptr<const Context> context;  // never nullptr
  std::string server_name;                 // as configured; empty: the endpoint's host
  // The configuration as text, with the files' names and not their content.
  std::string configured;

  // `host`: the endpoint's name; empty if it is known by an IP address or a path only.
  std::unique_ptr<Session> NewSession(const std::string& host) const {
    return std::make_unique<Session>(context, server_name.empty() ? host : server_name);
  }

  // Whether both are configured alike. Files that have changed since make no difference, so that
  // connections stay when a certificate is replaced.
  bool operator==(const ClientSource& other) const { return configured == other.configured; }
};

}  // namespace levee::tls
