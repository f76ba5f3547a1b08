// SPDX-License-Identifier: Apache-2.0
// Serves interop.proto with gRPC for C++: prints "listening HOST:PORT", and ends with its standard
// input.
#include <chrono>
#include <cstdio>
#include <future>
#include <iostream>
#include <memory>
#include <string>

#include "credentials.h"
#include "grpcpp/grpcpp.h"
#include "interop.grpc.pb.h"

namespace levee::interop::v1 {
namespace {

using grpc::ServerContext;

void EchoMetadata(ServerContext* context) {
  for (const auto& [name, value] : context->client_metadata()) {
    const std::string text(value.data(), value.size());
    if (name == "x-interop-head") {
      context->AddInitialMetadata("x-interop-head", text);
    } else if (name == "x-interop-trailer-bin") {
      context->AddTrailingMetadata("x-interop-trailer-bin", text);
    }
  }
}

grpc::Status Ended(const Request& request) {
  const Ending& ending = request.ending();
  return grpc::Status(static_cast<grpc::StatusCode>(ending.code()), ending.message());
}

// Ends the delays early.
std::promise<void> stopping;
const std::shared_future<void> stopped = stopping.get_future().share();

void Wait(const Answer& answer) { stopped.wait_for(std::chrono::milliseconds(answer.delay_ms())); }

Response ResponseTo(const Answer& answer) {
  Response response;
  response.set_body(std::string(answer.size(), '\0'));
  return response;
}

// A stream has one algorithm, and each message says whether it is left out.
template <typename Stream>
void Send(const Request& request, Stream* stream) {
  for (const Answer& answer : request.answers()) {
    Wait(answer);
    grpc::WriteOptions options;
    if (answer.form() != COMPRESSED) {
      options.set_no_compression();
    }
    stream->Write(ResponseTo(answer), options);
  }
}

class Service final : public TestService::Service {
  grpc::Status EmptyCall(ServerContext* context, const Empty* /*request*/,
                         Empty* /*response*/) override {
    EchoMetadata(context);
    return grpc::Status::OK;
  }

  grpc::Status UnaryCall(ServerContext* context, const Request* request,
                         Response* response) override {
    EchoMetadata(context);
    if (request->answers_size() > 0) {
      const Answer& answer = request->answers(0);
      Wait(answer);
      if (answer.form() == COMPRESSED) {
        context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
      }
      *response = ResponseTo(answer);
    }
    return Ended(*request);
  }

  grpc::Status StreamingInput(ServerContext* context, grpc::ServerReader<Request>* reader,
                              Total* total) override {
    EchoMetadata(context);
    Request request;
    while (reader->Read(&request)) {
      total->set_size(total->size() + request.body().size());
    }
    return grpc::Status::OK;
  }

  grpc::Status StreamingOutput(ServerContext* context, const Request* request,
                               grpc::ServerWriter<Response>* writer) override {
    EchoMetadata(context);
    context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
    Send(*request, writer);
    return Ended(*request);
  }

  grpc::Status FullDuplex(ServerContext* context,
                          grpc::ServerReaderWriter<Response, Request>* stream) override {
    EchoMetadata(context);
    Request request;
    while (stream->Read(&request)) {
      if (request.ending().code() != 0) {
        return Ended(request);
      }
      Send(request, stream);
    }
    return grpc::Status::OK;
  }
};

}  // namespace
}  // namespace levee::interop::v1

int main() {
  levee::interop::v1::Service service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", levee::interop::ServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  std::cout << "listening 127.0.0.1:" << port << std::endl;
  while (std::getchar() != EOF) {
  }
  levee::interop::v1::stopping.set_value();
  server->Shutdown(std::chrono::system_clock::now());
}
