// SPDX-License-Identifier: Apache-2.0
// A SPIFFE Workload API by a real gRPC server, whose answers a test writes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "certificates/authority.h"
#include "grpcpp/grpcpp.h"
#include "spiffe/workload.grpc.pb.h"

namespace levee {

// The IDs of an application, and of the service that it calls.
inline constexpr char kWeb[] = "spiffe://shop/web";
inline constexpr char kCart[] = "spiffe://shop/cart";

// Returns the answer of an API that has given one SVID for a certificate.
X509SVIDResponse SvidResponse(const Authority& authority, const PemPair& pair,
                              const std::string& id);

// Thread-safe. A stream gets what is given last, at once and whenever that changes.
class WorkloadApi {
 public:
  // `path`: of the socket. Without anything given, streams wait.
  explicit WorkloadApi(const std::string& path);
  // Ends every stream with UNAVAILABLE.
  ~WorkloadApi();

  void Give(const X509SVIDResponse& response);
  // Issues a certificate for the ID, and gives it. Returns it.
  PemPair Give(const Authority& authority, const std::string& id);

  // Streams end with this status from now on; OK: they do not.
  void Refuse(const grpc::Status& status);

  // Waits until a stream has got what was given last; false after kPatience.
  bool WaitUntilSent();

  // Waits until so many streams have begun in all; false after kPatience.
  bool WaitForStreams(int count);

  // Whether every stream has come with the metadata that the specification demands.
  bool all_marked();

 private:
  class Service;

  grpc::Status Serve(grpc::ServerContext& context, grpc::ServerWriter<X509SVIDResponse>& writer);

  std::mutex mutex_;
  std::condition_variable happened_;
  X509SVIDResponse response_;
  int version_ = 0;  // of the response; 0: there is none
  int sent_ = 0;     // the newest that a stream has got
  grpc::Status refused_;
  int streams_ = 0;
  bool all_marked_ = true;
  bool ended_ = false;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace levee
