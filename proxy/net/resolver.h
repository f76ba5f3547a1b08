// Names to addresses.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "net/address.h"
#include "net/event_loop.h"

namespace levee::net {

// The system's resolver, asked on libuv's thread pool, so that no answer holds up the loop.
class Resolver {
 public:
  explicit Resolver(EventLoop& loop) : loop_(loop) {}
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  using Answer = std::function<void(absl::StatusOr<std::vector<Address>>)>;

  // A look-up under way; destroying it means that `answer` is not called.
  class Query {
   public:
    ~Query();

   private:
    friend class Resolver;
    struct Request;
    Request* request_ = nullptr;
  };

  // `host`: an IP literal or a name. `answer` gets at least one address or an error, in a later
  // turn of the loop.
  std::unique_ptr<Query> Resolve(const std::string& host, uint16_t port, Answer answer);

 private:
  EventLoop& loop_;
};

}  // namespace levee::net
