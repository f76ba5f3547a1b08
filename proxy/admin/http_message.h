// SPDX-License-Identifier: Apache-2.0
// A request and its answer, as those see them who answer for HttpServer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace levee {

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // decoded
  std::string query;   // the part after '?', as it came
  std::vector<std::pair<std::string, std::string>> headers;

  // Returns the value of the header `name`, in any case; nullopt if there is none or more than one.
  std::optional<std::string_view> Header(std::string_view name) const;
  bool HasHeader(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string headers;  // besides those of every answer, each with its line end
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

// Returns the bytes of an answer after which the connection is closed. `headers`: those of every
// answer, each with its line end. A HEAD request has an answer without body.
std::string AnswerBytes(const HttpResponse& response, std::string_view headers, bool with_body);

// Returns the parameters of a query, decoded. Returns an error, worded for people, if one comes
// twice or is not among `known`.
absl::StatusOr<std::map<std::string, std::string, std::less<>>> ParseQuery(
    std::string_view query, const std::vector<std::string_view>& known);

}  // namespace levee
