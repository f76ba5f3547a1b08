// Prints what config/levee.schema.json should be: levee_schema FILE, a FileDescriptorSet of
// config.proto and its imports with source information.
#include <cstdio>
#include <fstream>

#include "config/json_schema.h"
#include "google/protobuf/descriptor.pb.h"

int main(int argc, char** argv) {
  google::protobuf::FileDescriptorSet set;
  std::ifstream file(argc == 2 ? argv[1] : "", std::ios::binary);
  if (!set.ParseFromIstream(&file)) {
    std::fprintf(stderr,
                 "usage: levee_schema FILE (protoc --include_imports --include_source_info)\n");
    return 2;
  }
  std::fputs(levee::ConfigSchema(set).c_str(), stdout);
  return 0;
}
