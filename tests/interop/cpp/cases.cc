// SPDX-License-Identifier: Apache-2.0
// Runs the interop cases with gRPC for C++.
//
// interop_cases LEVEE TARGET    prints a line per case: "ok NAME", "failed NAME: WHY" or
//                               "skipped NAME: WHY"
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "credentials.h"
#include "grpcpp/grpcpp.h"
#include "interop.grpc.pb.h"

namespace levee::interop::v1 {
namespace {

using grpc::ClientContext;
using grpc::Status;
using grpc::StatusCode;

constexpr auto kPatience = std::chrono::seconds(300);
constexpr uint32_t kLarge = 300'000;
const std::vector<uint32_t> kSizes = {31'000, 9, 2'500, 60'000};
const std::string kSpecial = "\t\ndykes hold 100% \r\n\u2713 and \U0001F30A\t\n";
const std::string kBinary("\x00\xff\x0a\x2c", 4);

void Expect(bool holds, const std::string& what) {
  if (!holds) {
    throw std::runtime_error(what);
  }
}

void ExpectEnd(const Status& status, StatusCode code, const std::string& message) {
  Expect(status.error_code() == code && status.error_message() == message,
         "ended with " + std::to_string(status.error_code()) + " '" + status.error_message() + "'");
}

void ExpectOk(const Status& status) { ExpectEnd(status, StatusCode::OK, ""); }

void ExpectCode(const Status& status, StatusCode code) {
  ExpectEnd(status, code, status.error_message());
}

void ExpectBody(const Response& response, size_t size) {
  Expect(response.body() == std::string(size, '\0'),
         "a body of " + std::to_string(response.body().size()) + " bytes");
}

Request Asking(std::initializer_list<std::pair<uint32_t, Form>> answers) {
  Request request;
  for (const auto& [size, form] : answers) {
    Answer* answer = request.add_answers();
    answer->set_size(size);
    answer->set_form(form);
  }
  return request;
}

Request With(uint32_t size, Form form, Request request = Request()) {
  request.set_body(std::string(size, '\0'));
  request.set_form(form);
  return request;
}

Request EndingWith(StatusCode code, const std::string& message) {
  Request request;
  request.mutable_ending()->set_code(code);
  request.mutable_ending()->set_message(message);
  return request;
}

// A call's context with a deadline that only a failed case reaches.
struct Context : ClientContext {
  Context() { set_deadline(std::chrono::system_clock::now() + kPatience); }
};

class Cases {
 public:
  explicit Cases(const std::shared_ptr<grpc::Channel>& channel)
      : test_(TestService::NewStub(channel)), missing_(MissingService::NewStub(channel)) {}

  void EmptyUnary() {
    Context context;
    Empty answer;
    ExpectOk(test_->EmptyCall(&context, Empty(), &answer));
  }

  void LargeUnary() { Unary(With(kLarge, PLAIN, Asking({{kLarge, PLAIN}})), false, kLarge); }

  void ClientCompressedUnary() {
    Unary(With(kLarge, COMPRESSED), true, 0);
    Unary(With(kLarge, PLAIN), false, 0);
  }

  void ServerCompressedUnary() {
    Unary(Asking({{kLarge, COMPRESSED}}), false, kLarge);
    Unary(Asking({{kLarge, PLAIN}}), false, kLarge);
  }

  void ClientCompressedStreaming() {
    Context context;
    context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    Total total;
    const auto writer = test_->StreamingInput(&context, &total);
    writer->Write(With(kLarge, COMPRESSED));
    writer->Write(With(kLarge, PLAIN), grpc::WriteOptions().set_no_compression());
    writer->WritesDone();
    ExpectOk(writer->Finish());
    Expect(total.size() == 2 * kLarge, "a total of " + std::to_string(total.size()));
  }

  void ServerCompressedStreaming() {
    Output(Asking({{kLarge, COMPRESSED}, {kLarge, PLAIN}}), {kLarge, kLarge});
  }

  void ClientStreaming() {
    Context context;
    Total total;
    const auto writer = test_->StreamingInput(&context, &total);
    for (const uint32_t size : kSizes) {
      writer->Write(With(size, PLAIN));
    }
    writer->WritesDone();
    ExpectOk(writer->Finish());
    Expect(total.size() == 93'509, "a total of " + std::to_string(total.size()));
  }

  void ServerStreaming() {
    Request request;
    for (const uint32_t size : kSizes) {
      request.add_answers()->set_size(size);
    }
    Output(request, kSizes);
  }

  void PingPong() {
    Context context;
    const auto stream = test_->FullDuplex(&context);
    for (const uint32_t size : kSizes) {
      stream->Write(With(size, PLAIN, Asking({{size, PLAIN}})));
      Response response;
      Expect(stream->Read(&response), "no answer");
      ExpectBody(response, size);
    }
    stream->WritesDone();
    ExpectEmptyEnd(stream.get());
  }

  void EmptyStream() {
    Context context;
    const auto stream = test_->FullDuplex(&context);
    stream->WritesDone();
    ExpectEmptyEnd(stream.get());
  }

  void CustomMetadata() {
    Context unary;
    AddMetadata(&unary);
    Empty answer;
    ExpectOk(test_->EmptyCall(&unary, Empty(), &answer));
    ExpectMetadata(unary);

    Context duplex;
    AddMetadata(&duplex);
    const auto stream = test_->FullDuplex(&duplex);
    stream->Write(Asking({{1, PLAIN}}));
    stream->WritesDone();
    Response response;
    Expect(stream->Read(&response), "no answer");
    ExpectEmptyEnd(stream.get());
    ExpectMetadata(duplex);
  }

  void StatusCodeAndMessage() {
    ExpectEnding(StatusCode::UNKNOWN, "as asked for");
    Context context;
    const auto stream = test_->FullDuplex(&context);
    stream->Write(EndingWith(StatusCode::UNKNOWN, "as asked for"));
    stream->WritesDone();
    ExpectEnd(stream->Finish(), StatusCode::UNKNOWN, "as asked for");
  }

  void SpecialStatusMessage() { ExpectEnding(StatusCode::UNKNOWN, kSpecial); }

  void UnimplementedMethod() {
    Context context;
    Empty answer;
    ExpectCode(test_->Missing(&context, Empty(), &answer), StatusCode::UNIMPLEMENTED);
  }

  void UnimplementedService() {
    Context context;
    Empty answer;
    ExpectCode(missing_->Missing(&context, Empty(), &answer), StatusCode::UNIMPLEMENTED);
  }

  void CancelAfterBegin() {
    Context context;
    Total total;
    const auto writer = test_->StreamingInput(&context, &total);
    context.TryCancel();
    ExpectCode(writer->Finish(), StatusCode::CANCELLED);
  }

  void CancelAfterFirstResponse() {
    Context context;
    const auto stream = test_->FullDuplex(&context);
    stream->Write(Asking({{9, PLAIN}}));
    Response response;
    Expect(stream->Read(&response), "no answer");
    context.TryCancel();
    ExpectCode(stream->Finish(), StatusCode::CANCELLED);
  }

  void TimeoutOnSleepingServer() {
    ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
    const auto stream = test_->FullDuplex(&context);
    Request request = Asking({{9, PLAIN}});
    request.mutable_answers(0)->set_delay_ms(5'000);
    stream->Write(request);
    ExpectCode(stream->Finish(), StatusCode::DEADLINE_EXCEEDED);
  }

 private:
  void Unary(const Request& request, bool compress, size_t size) {
    Context context;
    if (compress) {
      context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    }
    Response response;
    ExpectOk(test_->UnaryCall(&context, request, &response));
    ExpectBody(response, size);
  }

  void Output(const Request& request, const std::vector<uint32_t>& sizes) {
    Context context;
    const auto reader = test_->StreamingOutput(&context, request);
    Response response;
    for (const uint32_t size : sizes) {
      Expect(reader->Read(&response), "too few answers");
      ExpectBody(response, size);
    }
    Expect(!reader->Read(&response), "too many answers");
    ExpectOk(reader->Finish());
  }

  void ExpectEnding(StatusCode code, const std::string& message) {
    Context context;
    Response response;
    ExpectEnd(test_->UnaryCall(&context, EndingWith(code, message), &response), code, message);
  }

  static void ExpectEmptyEnd(grpc::ClientReaderWriter<Request, Response>* stream) {
    Response response;
    Expect(!stream->Read(&response), "an answer too many");
    ExpectOk(stream->Finish());
  }

  static void AddMetadata(ClientContext* context) {
    context->AddMetadata("x-interop-head", "at the head");
    context->AddMetadata("x-interop-trailer-bin", kBinary);
  }

  static void ExpectMetadata(const ClientContext& context) {
    const auto& head = context.GetServerInitialMetadata();
    const auto in_head = head.find("x-interop-head");
    Expect(in_head != head.end() && in_head->second == "at the head", "not in the headers");
    const auto& trailers = context.GetServerTrailingMetadata();
    const auto in_trailers = trailers.find("x-interop-trailer-bin");
    Expect(in_trailers != trailers.end() && in_trailers->second == kBinary, "not in the trailers");
  }

  std::unique_ptr<TestService::Stub> test_;
  std::unique_ptr<MissingService::Stub> missing_;
};

using Case = std::pair<const char*, void (Cases::*)()>;
const Case kCases[] = {
    {"empty_unary", &Cases::EmptyUnary},
    {"large_unary", &Cases::LargeUnary},
    {"client_compressed_unary", &Cases::ClientCompressedUnary},
    {"server_compressed_unary", &Cases::ServerCompressedUnary},
    {"client_compressed_streaming", &Cases::ClientCompressedStreaming},
    {"server_compressed_streaming", &Cases::ServerCompressedStreaming},
    {"client_streaming", &Cases::ClientStreaming},
    {"server_streaming", &Cases::ServerStreaming},
    {"ping_pong", &Cases::PingPong},
    {"empty_stream", &Cases::EmptyStream},
    {"custom_metadata", &Cases::CustomMetadata},
    {"status_code_and_message", &Cases::StatusCodeAndMessage},
    {"special_status_message", &Cases::SpecialStatusMessage},
    {"unimplemented_method", &Cases::UnimplementedMethod},
    {"unimplemented_service", &Cases::UnimplementedService},
    {"cancel_after_begin", &Cases::CancelAfterBegin},
    {"cancel_after_first_response", &Cases::CancelAfterFirstResponse},
    {"timeout_on_sleeping_server", &Cases::TimeoutOnSleepingServer},
};

void RunAll(const std::string& levee, const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, target);
  Cases cases(grpc::CreateCustomChannel(levee, ClientCredentials(), arguments));
  for (const auto& [name, run] : kCases) {
    try {
      (cases.*run)();
      std::cout << "ok " << name << std::endl;
    } catch (const std::runtime_error& error) {
      std::cout << "failed " << name << ": " << error.what() << std::endl;
    }
  }
}

}  // namespace
}  // namespace levee::interop::v1

int main(int /*count*/, char** arguments) {
  levee::interop::v1::RunAll(arguments[1], arguments[2]);
}
