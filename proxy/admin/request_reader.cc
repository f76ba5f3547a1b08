// SPDX-License-Identifier: Apache-2.0
#include "admin/request_reader.h"

#include <http_parser.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "wire/percent_encoding.h"

namespace levee {

// Called by the parser; any value but 0 ends its work.
struct RequestReader::Callbacks {
  static RequestReader& Of(http_parser* parser) {
    return *static_cast<RequestReader*>(parser->data);
  }

  // Each of these may come in parts.
  static int OnTarget(http_parser* parser, const char* bytes, size_t size) {
    Of(parser).target_.append(bytes, size);
    return 0;
  }
  static int OnName(http_parser* parser, const char* bytes, size_t size) {
    RequestReader& reader = Of(parser);
    auto& headers = reader.request_.headers;
    if (headers.empty() || std::exchange(reader.in_value_, false)) headers.emplace_back();
    headers.back().first.append(bytes, size);
    return 0;
  }
  static int OnValue(http_parser* parser, const char* bytes, size_t size) {
    RequestReader& reader = Of(parser);
    reader.in_value_ = true;
    reader.request_.headers.back().second.append(bytes, size);
    return 0;
  }
  static int OnHead(http_parser* parser) {
    Of(parser).OnHead();
    http_parser_pause(parser, 1);
    return 0;
  }

  static const http_parser_settings& All() {
    static const http_parser_settings all = [] {
      http_parser_settings settings;
      http_parser_settings_init(&settings);
      settings.on_url = &OnTarget;
      settings.on_header_field = &OnName;
      settings.on_header_value = &OnValue;
      settings.on_headers_complete = &OnHead;
      return settings;
    }();
    return all;
  }
};

RequestReader::RequestReader() : parser_(std::make_unique<http_parser>()) {
  http_parser_init(parser_.get(), HTTP_REQUEST);
  parser_->data = this;
}

RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::Read(ByteSpan bytes) {
  if (state_ != State::kMore) return state_;
  const size_t room = std::min(bytes.size(), kMaxHeadBytes - bytes_);
  bytes_ += http_parser_execute(parser_.get(), &Callbacks::All(),
                                reinterpret_cast<const char*>(bytes.data()), room);
  if (state_ != State::kMore) return state_;
  const http_errno error = HTTP_PARSER_ERRNO(parser_.get());
  if (error != HPE_OK) {
    Refuse(400, absl::StrCat("no HTTP/1.1: ", http_errno_description(error)));
  } else if (bytes_ == kMaxHeadBytes) {
    const bool in_target = request_.headers.empty();
    Refuse(in_target ? 414 : 431, absl::StrCat("at most ", kMaxHeadBytes, " bytes before a body"));
  }
  return state_;
}

void RequestReader::Refuse(int status, std::string why) {
  state_ = State::kRefused;
  refusal_ = {.status = status, .body = std::move(why) + "\n"};
}

void RequestReader::OnHead() {
  state_ = State::kComplete;
  request_.method = http_method_str(static_cast<http_method>(parser_->method));
  for (auto& [name, value] : request_.headers) {
    // RFC 9112, 5.1. Debian's parser is built to let it pass.
    if (absl::StrContains(name, ' ')) return Refuse(400, "no HTTP/1.1: a space in a header's name");
    absl::StripTrailingAsciiWhitespace(&value);
  }
  if (request_.headers.size() > kMaxHeaders) return Refuse(431, "too many headers");
  // Without a length the parser's is the largest number.
  const bool announced = request_.HasHeader("content-length");
  if (request_.HasHeader("transfer-encoding") ||
      (announced && parser_->content_length > kMaxBodyBytes)) {
    return Refuse(413, "no request needs a body here");
  }
  ReadTarget();
}

// RFC 9112, 3.2: a path, or a URL whose host takes the place of the header's.
void RequestReader::ReadTarget() {
  std::string_view target = target_;
  if (!target.starts_with('/')) {
    http_parser_url url;
    http_parser_url_init(&url);
    if (http_parser_parse_url(target.data(), target.size(), 0, &url) != 0 ||
        (url.field_set & (1 << UF_HOST)) == 0) {
      return Refuse(400, "the target is no path");
    }
    const std::string_view after_scheme = target.substr(target.find("//") + 2);
    const size_t authority_size = std::min(after_scheme.find_first_of("/?#"), after_scheme.size());
    auto& headers = request_.headers;
    std::erase_if(headers,
                  [](const auto& header) { return absl::EqualsIgnoreCase(header.first, "host"); });
    headers.emplace_back("host", std::string(after_scheme.substr(0, authority_size)));
    target = after_scheme.substr(authority_size);
  }
  target = target.substr(0, target.find('#'));
  const size_t question = std::min(target.find('?'), target.size());
  request_.path = question > 0 ? PercentDecode(target.substr(0, question)) : "/";
  if (question < target.size()) request_.query = std::string(target.substr(question + 1));
}

}  // namespace levee
