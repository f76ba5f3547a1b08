// SPDX-License-Identifier: Apache-2.0
#include "admin/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "gtest/gtest.h"

namespace levee {

HttpClient::HttpClient(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

HttpClient::~HttpClient() { close(fd_); }

void HttpClient::Send(std::string_view bytes) {
  // The server may have answered and closed already; what it said is what tests look at.
  const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  static_cast<void>(sent);
}

std::string HttpClient::ReadAll() {
  std::string all;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t size = recv(fd_, buffer.data(), buffer.size(), 0);
    if (size < 0) ADD_FAILURE() << "the connection broke";
    if (size <= 0) return all;
    all.append(buffer.data(), static_cast<size_t>(size));
  }
}

std::string HttpClient::ReadSome() {
  std::array<char, 4096> buffer;
  const ssize_t size = recv(fd_, buffer.data(), buffer.size(), 0);
  return size > 0 ? std::string(buffer.data(), static_cast<size_t>(size)) : "";
}

void HttpClient::FinishSending() { shutdown(fd_, SHUT_WR); }

HttpAnswer ParseAnswer(const std::string& bytes) {
  HttpAnswer answer;
  const size_t end = bytes.find("\r\n\r\n");
  if (!bytes.starts_with("HTTP/1.") || end == std::string::npos) return answer;
  answer.status = std::atoi(bytes.c_str() + sizeof("HTTP/1.1 ") - 1);
  answer.headers = bytes.substr(0, end + 2);
  answer.body = bytes.substr(end + 4);
  return answer;
}

HttpAnswer Ask(uint16_t port, std::string_view method, std::string_view path, std::string_view more,
               std::string_view host) {
  HttpClient client(port);
  EXPECT_TRUE(client.connected());
  std::string request;
  request.append(method).append(" ").append(path).append(" HTTP/1.1\r\n");
  if (!host.empty()) request.append("Host: ").append(host).append("\r\n");
  request.append(more).append("\r\n");
  client.Send(request);
  return ParseAnswer(client.ReadAll());
}

}  // namespace levee
