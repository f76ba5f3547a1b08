// SPDX-License-Identifier: Apache-2.0
#include "config/descriptor_set.h"

#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "config/read_file.h"
#include "config/values.h"
#include "google/protobuf/descriptor.pb.h"

namespace levee {
namespace {

using google::protobuf::FileDescriptorProto;
using google::protobuf::MethodOptions;
using google::protobuf::ServiceDescriptorProto;

constexpr char kCure[] = "; write it with protoc --include_imports --descriptor_set_out=FILE";

void AddMethods(const FileDescriptorProto& file, DescribedMethods& methods) {
  for (const ServiceDescriptorProto& service : file.service()) {
    const std::string prefix =
        absl::StrCat("/", file.package(), file.package().empty() ? "" : ".", service.name(), "/");
    for (const auto& method : service.method()) {
      const std::string path = prefix + method.name();
      methods.all.insert(path);
      if (method.options().idempotency_level() != MethodOptions::IDEMPOTENCY_UNKNOWN) {
        methods.idempotent.insert(path);
      }
      if (method.client_streaming() || method.server_streaming()) methods.streams.insert(path);
    }
  }
}

absl::StatusOr<DescribedMethods> LoadDescriptorSet(const std::string& file) {
  const absl::StatusOr<std::string> bytes = ReadFile(file, kMaxDescriptorSetBytes);
  if (bytes.ok()) return ParseDescriptorSet(*bytes);
  if (absl::IsOutOfRange(bytes.status())) {
    return absl::OutOfRangeError("is larger than 64 MiB; name a file with fewer services");
  }
  return absl::UnavailableError(absl::StrCat("cannot be read: ", bytes.status().message()));
}

CheckCode CodeOf(const absl::Status& error) {
  if (absl::IsOutOfRange(error)) return CheckCode::kFileTooLarge;
  return absl::IsUnavailable(error) ? CheckCode::kUnreadableFile : CheckCode::kDescriptorSet;
}

}  // namespace

absl::StatusOr<DescribedMethods> ParseDescriptorSet(const std::string& bytes) {
  google::protobuf::FileDescriptorSet set;
  if (!set.ParseFromString(bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("is not a FileDescriptorSet", kCure));
  }
  DescribedMethods methods;
  for (const FileDescriptorProto& file : set.file()) AddMethods(file, methods);
  if (methods.all.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("describes no service with methods", kCure));
  }
  return methods;
}

std::vector<std::shared_ptr<const DescribedMethods>> LoadDescriptorSets(
    const config::v1::Config& config, const Positions& positions, FaultList& faults) {
  std::vector<std::shared_ptr<const DescribedMethods>> sets;
  std::map<std::string, std::shared_ptr<const DescribedMethods>> loaded;  // by file
  for (int i = 0; i < config.upstreams_size(); ++i) {
    sets.emplace_back();
    const std::string& file = config.upstreams(i).descriptor_set();
    if (!IsGiven(file)) continue;
    if (const auto known = loaded.find(file); known != loaded.end()) {
      sets.back() = known->second;
      continue;
    }
    absl::StatusOr<DescribedMethods> methods = LoadDescriptorSet(file);
    if (methods.ok()) {
      sets.back() = std::make_shared<const DescribedMethods>(*std::move(methods));
      loaded.emplace(file, sets.back());
    } else {
      const Place place = positions.Find(absl::StrCat("upstreams[", i, "].descriptor_set"));
      faults.Add(place, CodeOf(methods.status()),
                 absl::StrCat(Quoted(file), " ", methods.status().message()));
    }
  }
  return sets;
}

}  // namespace levee
