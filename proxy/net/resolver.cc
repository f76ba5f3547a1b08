#include "net/resolver.h"

#include <netdb.h>
#include <uv.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "net/event_loop_uv.h"

namespace levee::net {

// Outlives its Query until libuv has called back.
struct Resolver::Query::Request {
  uv_getaddrinfo_t uv;
  uint16_t port;
  std::string host;
  Answer answer;

  static void OnAnswer(uv_getaddrinfo_t* uv, int status, addrinfo* found) {
    const std::unique_ptr<Request> self(static_cast<Request*>(uv->data));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, uv_freeaddrinfo);
    if (self->answer) self->Deliver(status, found);
  }

  void Deliver(int status, const addrinfo* found) {
    if (status != 0) {
      answer(
          absl::UnavailableError(absl::StrCat("cannot resolve ", host, ": ", uv_strerror(status))));
      return;
    }
    std::vector<Address> addresses;
    for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
      Address address(info->ai_addr, info->ai_addrlen);
      address.set_port(port);
      addresses.push_back(address);
    }
    answer(std::move(addresses));
  }
};

Resolver::Query::~Query() {
  if (request_ != nullptr) request_->answer = nullptr;
}

std::unique_ptr<Resolver::Query> Resolver::Resolve(const std::string& host, uint16_t port,
                                                   Answer answer) {
  auto query = std::make_unique<Query>();
  // The query forgets the request when it is answered, since that destroys the request.
  auto forget_then = [query = query.get(), answer = std::move(answer)](auto result) {
    query->request_ = nullptr;
    answer(std::move(result));
  };
  auto* request = new Query::Request{{}, port, host, std::move(forget_then)};
  request->uv.data = request;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const int error = uv_getaddrinfo(&loop_.internals().uv, &request->uv, Query::Request::OnAnswer,
                                   host.c_str(), nullptr, &hints);
  query->request_ = request;
  if (error != 0) {
    // libuv has not taken the request, so its answer has to come from here, a turn later.
    loop_.Post([request, error] { Query::Request::OnAnswer(&request->uv, error, nullptr); });
  }
  return query;
}

}  // namespace levee::net
