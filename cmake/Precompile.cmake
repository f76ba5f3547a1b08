# SPDX-License-Identifier: Apache-2.0
# Headers that are parsed once for all layers; without them most files take twice as long. Only
# headers of libraries, which change with Debian's packages and not with Levee. Fuzz targets are
# built without them.
#
# levee_precompile(<target> <kind>) gives a target the headers of its kind: what it may use anyway.
if(LEVEE_FUZZ)
  function(levee_precompile)
  endfunction()
  return()
endif()

# GCC takes no precompiled header whose macros differ from those of the file. Some targets would have
# this option of their libraries and others not, and a warning changes a macro too.
add_compile_options(-pthread)

set(empty_source ${CMAKE_BINARY_DIR}/precompiled.cc)
file(CONFIGURE OUTPUT ${empty_source} CONTENT "")
function(levee_precompiled_headers kind)
  add_library(levee_precompiled_${kind} OBJECT EXCLUDE_FROM_ALL ${empty_source})
  target_link_libraries(levee_precompiled_${kind} PRIVATE levee_warnings)
  target_precompile_headers(levee_precompiled_${kind} PRIVATE ${ARGN})
endfunction()

set(LEVEE_PRECOMPILED <algorithm> <array> <cstdint> <functional> <map> <memory> <mutex> <optional>
  <set> <span> <string> <string_view> <utility> <vector> <absl/status/statusor.h>
  <absl/strings/ascii.h> <absl/strings/str_cat.h> <absl/strings/str_format.h>
  <absl/strings/str_join.h> <absl/strings/str_split.h> <absl/time/time.h>)
levee_precompiled_headers(plain ${LEVEE_PRECOMPILED})
set(headers ${LEVEE_PRECOMPILED} <google/protobuf/descriptor.h>
  <google/protobuf/generated_message_reflection.h> <google/protobuf/map.h>
  <google/protobuf/message.h> <google/protobuf/util/json_util.h>)
levee_precompiled_headers(protobuf ${headers})
if(LEVEE_WITH_GRPC)
  levee_precompiled_headers(grpc ${headers} <grpcpp/grpcpp.h>)
endif()

function(levee_precompile target kind)
  target_precompile_headers(${target} REUSE_FROM levee_precompiled_${kind})
endfunction()
