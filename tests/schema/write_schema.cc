// SPDX-License-Identifier: Apache-2.0
// Prints what is written from config.proto, scenario.proto, and their comments:
//
//   levee_schema COMMENTED             config/levee.schema.json
//   levee_schema COMMENTED scenario    config/levee.scenario.schema.json
//   levee_schema COMMENTED FILE.yaml   FILE.yaml with the section of its limits written anew
//   levee_schema COMMENTED FILE.md     FILE.md with its tables of limits written anew
//
// COMMENTED is a FileDescriptorSet of both and their imports with source information.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "base/check.h"
#include "config/json_schema.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "levee/config/v1/config.pb.h"
#include "levee/lab/v1/scenario.pb.h"
#include "schema/limit_texts.h"

namespace {

std::string WithLimits(const google::protobuf::FileDescriptorSet& commented,
                       const std::string& path) {
  google::protobuf::DescriptorPool pool;
  for (const auto& file : commented.file()) LEVEE_CHECK(pool.BuildFile(file) != nullptr);
  const auto* limits =
      pool.FindMessageTypeByName(levee::config::v1::Limits::descriptor()->full_name());
  LEVEE_CHECK(limits != nullptr);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return path.ends_with(".yaml") ? levee::WithDefaultLimits(*limits, text)
                                 : levee::WithLimitTables(*limits, text);
}

std::string Written(const google::protobuf::FileDescriptorSet& commented, const std::string& what) {
  if (what.empty()) {
    return levee::SchemaOf(commented, levee::config::v1::Config::descriptor()->full_name(),
                           "Levee policy file");
  }
  if (what == "scenario") {
    return levee::SchemaOf(commented, levee::lab::v1::Scenario::descriptor()->full_name(),
                           "Levee scenario");
  }
  return WithLimits(commented, what);
}

}  // namespace

int main(int argc, char** argv) {
  google::protobuf::FileDescriptorSet set;
  std::ifstream file(argc > 1 ? argv[1] : "", std::ios::binary);
  if (argc > 3 || !set.ParseFromIstream(&file)) {
    std::fprintf(stderr,
                 "usage: levee_schema COMMENTED [scenario|FILE] (protoc --include_imports "
                 "--include_source_info)\n");
    return 2;
  }
  std::fputs(Written(set, argc == 3 ? argv[2] : "").c_str(), stdout);
  return 0;
}
