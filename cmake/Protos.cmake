# SPDX-License-Identifier: Apache-2.0
# Generated code. `levee_protos` holds the messages of every .proto file and needs only Protobuf,
# so that the data plane never links gRPC; `levee_grpc_protos` adds the services.

set(LEVEE_PROTO_DIR ${CMAKE_SOURCE_DIR}/protos)
set(LEVEE_PROTO_OUT ${CMAKE_BINARY_DIR}/protos)
file(MAKE_DIRECTORY ${LEVEE_PROTO_OUT})

# Runs protoc over `protos`, relative to protos/, and compiles the *<suffix>.cc it writes. The
# remaining arguments go to protoc.
function(levee_proto_library target protos suffix)
  if(NOT protos)
    add_library(${target} INTERFACE)
    return()
  endif()
  set(sources)
  foreach(proto IN LISTS protos)
    string(REGEX REPLACE "\\.proto$" "${suffix}" output ${LEVEE_PROTO_OUT}/${proto})
    # Every proto file is a dependency because any of them may be imported.
    list(TRANSFORM LEVEE_PROTO_FILES PREPEND ${LEVEE_PROTO_DIR}/ OUTPUT_VARIABLE depends)
    add_custom_command(OUTPUT ${output}.cc ${output}.h
      COMMAND protobuf::protoc -I ${LEVEE_PROTO_DIR} ${ARGN} ${proto}
      DEPENDS ${depends} protobuf::protoc COMMENT "Generating ${proto} (${suffix})" VERBATIM)
    list(APPEND sources ${output}.cc)
  endforeach()
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # Generated files share names.
  target_include_directories(${target} SYSTEM PUBLIC ${LEVEE_PROTO_OUT})
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
endfunction()

file(GLOB_RECURSE LEVEE_PROTO_FILES CONFIGURE_DEPENDS RELATIVE ${LEVEE_PROTO_DIR}
  ${LEVEE_PROTO_DIR}/*.proto)
levee_proto_library(levee_protos "${LEVEE_PROTO_FILES}" .pb --cpp_out ${LEVEE_PROTO_OUT})

if(LEVEE_WITH_GRPC)
  set(service_protos ${LEVEE_PROTO_FILES})
  list(FILTER service_protos INCLUDE REGEX
    "^(levee/(admin|demo)|opentelemetry/proto/collector|envoy/service|spiffe)/")
  levee_proto_library(levee_grpc_protos "${service_protos}" .grpc.pb
    --grpc_out ${LEVEE_PROTO_OUT} --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>)
  if(service_protos)
    target_link_libraries(levee_grpc_protos PUBLIC levee_protos gRPC::grpc++)
  endif()
endif()
