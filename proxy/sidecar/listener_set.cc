// SPDX-License-Identifier: Apache-2.0
#include "sidecar/listener_set.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace levee {
namespace {

absl::Status At(const ListenerSpec& spec, const absl::Status& error) {
  return absl::FailedPreconditionError(
      absl::StrCat(error.message(), " (set at ", spec.address.position, ")"));
}

// Port 0 where the system is to choose.
net::Address AddressOf(const ListenAddress& wanted) {
  const auto address = wanted.path.empty() ? net::Address::FromIp(wanted.host, wanted.port)
                                           : net::Address::FromUnixPath(wanted.path);
  LEVEE_CHECK(address.has_value());  // The configuration was checked.
  return *address;
}

// Returns "" unless the listener takes redirected connections.
std::string OriginalOf(const net::ByteStream& stream, const ListenerSpec& spec) {
  if (!spec.capture.original_dst) return "";
  const std::optional<net::Address> original = stream.OriginalDestination();
  return original.has_value() ? original->Unmapped().ToString() : "";
}

bool SameSocket(const ListenerSpec& one, const ListenerSpec& other) {
  const net::Address address = AddressOf(one.address);
  const bool any_port = !address.is_unix() && address.port() == 0;
  return address == AddressOf(other.address) && (!any_port || one.name == other.name);
}

// Returns the one of `specs` that wants the socket of `wanted`; nullptr: none does.
const ListenerSpec* FindSame(const std::vector<ListenerSpec>& specs, const ListenerSpec& wanted) {
  const auto found = std::find_if(specs.begin(), specs.end(), [&wanted](const ListenerSpec& spec) {
    return SameSocket(spec, wanted);
  });
  return found == specs.end() ? nullptr : &*found;
}

// A spec for each socket: `localhost` is two.
std::vector<ListenerSpec> SocketsOf(const std::vector<ListenerSpec>& specs) {
  std::vector<ListenerSpec> sockets;
  for (const ListenerSpec& spec : specs) {
    sockets.push_back(spec);
    if (!spec.address.ipv6_loopback || !net::HasIpv6Loopback()) continue;
    sockets.push_back(spec);
    sockets.back().address.host = "::1";
  }
  return sockets;
}

}  // namespace

ListenerSet::Listening* ListenerSet::Find(const ListenerSpec& spec) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&spec](const auto& listening) {
    return listening->listener != nullptr && SameSocket(*listening->spec, spec);
  });
  return found == open_.end() ? nullptr : found->get();
}

absl::StatusOr<std::unique_ptr<net::Listener>> ListenerSet::Listen(const Listening& listening) {
  const ListenerSpec& spec = *listening.spec;
  const net::Address address =
      listening.address.has_value() ? *listening.address : AddressOf(spec.address);
  auto listener =
      net::Listener::Open(loop_, wheel_, address,
                          [this, &listening](net::ByteStream stream) {
                            std::string original = OriginalOf(stream, *listening.spec);
                            accepted_(std::move(stream), {.listener = listening.spec,
                                                          .socket = listening.number,
                                                          .destination = "",
                                                          .original = std::move(original)});
                          },
                          {.exhausted = exhausted_, .mode = static_cast<mode_t>(spec.mode)});
  if (!listener.ok()) return At(spec, listener.status());
  return listener;
}

absl::StatusOr<std::unique_ptr<ListenerSet::Listening>> ListenerSet::Open(
    const ListenerSpec& spec, const std::vector<ListenerSpec>& specs, const Listening* before) {
  auto listening = std::make_unique<Listening>();
  listening->number = numbers_++;
  listening->spec = std::make_shared<const ListenerSpec>(spec);
  if (before != nullptr && before->spec->name == spec.name && spec.address.port == 0) {
    listening->address = net::Address::FromIp(spec.address.host, before->address->port());
  }
  auto listener = Listen(*listening);
  if (!listener.ok()) {
    // If only the host of a listener changes, its old socket has the port that the new one needs.
    Listening* const rival = FindLeaving(spec.address.port, specs);
    if (rival == nullptr) return listener.status();
    rival->listener.reset();
    listener = Listen(*listening);
    if (!listener.ok()) return listener.status();
  }
  listening->listener = *std::move(listener);
  listening->address = listening->listener->address();
  return listening;
}

// Returns a socket that is open on that port, whatever its host, and that `specs` do not want;
// nullptr: there is none.
ListenerSet::Listening* ListenerSet::FindLeaving(uint16_t port,
                                                 const std::vector<ListenerSpec>& specs) {
  if (port == 0) return nullptr;
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& listening) {
    return listening->listener != nullptr && listening->listener->address().port() == port &&
           FindSame(specs, *listening->spec) == nullptr;
  });
  return found == open_.end() ? nullptr : found->get();
}

// Opens the sockets again that made room, at the port that they had even if the system chose it,
// and gives all sockets back the modes that they had.
void ListenerSet::Restore() {
  for (const auto& listening : open_) {
    if (listening->listener != nullptr) {
      listening->listener->SetMode(static_cast<mode_t>(listening->spec->mode)).IgnoreError();
      continue;
    }
    auto listener = Listen(*listening);
    // This fails only if another process has taken the port in the meantime.
    if (listener.ok()) listening->listener = *std::move(listener);
  }
}

absl::StatusOr<std::vector<int>> ListenerSet::Replace(const std::vector<ListenerSpec>& listeners) {
  const std::vector<ListenerSpec> specs = SocketsOf(listeners);
  auto opened = OpenMissing(specs);
  if (!opened.ok()) {
    Restore();
    return opened.status();
  }
  std::vector<int> closed;
  std::erase_if(open_, [&](const std::unique_ptr<Listening>& listening) {
    const ListenerSpec* const spec = FindSame(specs, *listening->spec);
    if (spec == nullptr || listening->listener == nullptr) {
      closed.push_back(listening->number);
      return true;
    }
    listening->spec = std::make_shared<const ListenerSpec>(*spec);
    return false;
  });
  std::move(opened->begin(), opened->end(), std::back_inserter(open_));
  return closed;
}

absl::StatusOr<ListenerSet::Listenings> ListenerSet::OpenMissing(
    const std::vector<ListenerSpec>& specs) {
  Listenings opened;
  const Listening* before = nullptr;
  for (const ListenerSpec& spec : specs) {
    if (const Listening* known = Find(spec); known != nullptr) {
      before = known;
      const absl::Status changed = known->listener->SetMode(static_cast<mode_t>(spec.mode));
      if (!changed.ok()) return At(spec, changed);
      continue;
    }
    auto listening = Open(spec, specs, before);
    if (!listening.ok()) return listening.status();
    opened.push_back(*std::move(listening));
    before = opened.back().get();
  }
  return opened;
}

std::vector<ListenerSet::Bound> ListenerSet::bound() const {
  std::vector<Bound> bound;
  for (const auto& listening : open_) {
    if (listening->listener == nullptr) continue;
    bound.push_back({listening->spec->name, listening->listener->address()});
  }
  return bound;
}

absl::Status ListenerSet::SetOpen(const std::string& name, bool open) {
  absl::Status status;
  for (const auto& listening : open_) {
    if (listening->spec->name != name || listening->listener == nullptr) continue;
    if (open) {
      status.Update(listening->listener->Resume());
    } else {
      listening->listener->Pause();
    }
  }
  return status;
}

}  // namespace levee
