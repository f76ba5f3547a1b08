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

  // Ends the request; `answer` is not called if the query is gone.
  void Finish(absl::StatusOr<std::vector<Address>> result) {
    const std::unique_ptr<Request> self(this);
    if (answer) answer(std::move(result));
  }

  static void OnAnswer(uv_getaddrinfo_t* uv, int status, addrinfo* found) {
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, uv_freeaddrinfo);
    auto* self = static_cast<Request*>(uv->data);
    self->Finish(self->Read(status, found));
  }

  absl::StatusOr<std::vector<Address>> Read(int status, const addrinfo* found) const {
    if (status != 0) {
      return absl::UnavailableError(
          absl::StrCat("cannot resolve ", host, ": ", uv_strerror(status)));
    }
    std::vector<Address> addresses;
    for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
      Address address(info->ai_addr, info->ai_addrlen);
      address.set_port(port);
      addresses.push_back(address);
    }
    return addresses;
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
  query->request_ = request;
  if (host == "localhost") {
    // Loopback whatever files or servers say, and also where there are none (RFC 6761,
    // section 6.3).
    loop_.Post([request, port] {
      request->Finish(
          std::vector{*Address::FromIp("127.0.0.1", port), *Address::FromIp("::1", port)});
    });
    return query;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const int error = uv_getaddrinfo(&loop_.internals().uv, &request->uv, Query::Request::OnAnswer,
                                   host.c_str(), nullptr, &hints);
  if (error != 0) {
    // libuv has not taken the request, so its answer has to come from here, a turn later.
    loop_.Post([request, error] { request->Finish(request->Read(error, nullptr)); });
  }
  return query;
}

}  // namespace levee::net
