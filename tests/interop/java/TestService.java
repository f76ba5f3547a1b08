// SPDX-License-Identifier: Apache-2.0
// The methods of interop.proto, which stand here so that no plugin of protoc is needed.

import com.google.protobuf.Message;
import interop.v1.Empty;
import interop.v1.Request;
import interop.v1.Response;
import interop.v1.Total;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoUtils;

final class TestService {
  static final String NAME = "levee.interop.v1.TestService";
  static final MethodDescriptor<Empty, Empty> EMPTY_CALL = method(
      NAME, "EmptyCall", MethodType.UNARY, Empty.getDefaultInstance(), Empty.getDefaultInstance());
  static final MethodDescriptor<Request, Response> UNARY_CALL = method(NAME, "UnaryCall",
      MethodType.UNARY, Request.getDefaultInstance(), Response.getDefaultInstance());
  static final MethodDescriptor<Request, Total> STREAMING_INPUT = method(NAME, "StreamingInput",
      MethodType.CLIENT_STREAMING, Request.getDefaultInstance(), Total.getDefaultInstance());
  static final MethodDescriptor<Request, Response> STREAMING_OUTPUT = method(NAME,
      "StreamingOutput", MethodType.SERVER_STREAMING, Request.getDefaultInstance(),
      Response.getDefaultInstance());
  static final MethodDescriptor<Request, Response> FULL_DUPLEX = method(NAME, "FullDuplex",
      MethodType.BIDI_STREAMING, Request.getDefaultInstance(), Response.getDefaultInstance());
  static final MethodDescriptor<Empty, Empty> MISSING_METHOD = method(
      NAME, "Missing", MethodType.UNARY, Empty.getDefaultInstance(), Empty.getDefaultInstance());
  static final MethodDescriptor<Empty, Empty> MISSING_SERVICE =
      method("levee.interop.v1.MissingService", "Missing", MethodType.UNARY,
          Empty.getDefaultInstance(), Empty.getDefaultInstance());

  private static <Q extends Message, R extends Message> MethodDescriptor<Q, R> method(
      String service, String name, MethodType type, Q request, R response) {
    return MethodDescriptor.<Q, R>newBuilder()
        .setType(type)
        .setFullMethodName(service + "/" + name)
        .setRequestMarshaller(ProtoUtils.marshaller(request))
        .setResponseMarshaller(ProtoUtils.marshaller(response))
        .build();
  }

  private TestService() {}
}
