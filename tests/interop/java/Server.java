// SPDX-License-Identifier: Apache-2.0
// Serves interop.proto with grpc-java: prints "listening HOST:PORT", and ends with its standard
// input.

import com.google.protobuf.ByteString;
import interop.v1.Answer;
import interop.v1.Empty;
import interop.v1.Form;
import interop.v1.Request;
import interop.v1.Response;
import interop.v1.Total;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

public final class Server {
  private static final Metadata.Key<String> HEAD =
      Metadata.Key.of("x-interop-head", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<byte[]> TRAILER =
      Metadata.Key.of("x-interop-trailer-bin", Metadata.BINARY_BYTE_MARSHALLER);

  /** Puts the fields that a caller asks for into the answer. */
  private static final class EchoMetadata implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata asked, ServerCallHandler<Q, R> next) {
      return next.startCall(new SimpleForwardingServerCall<Q, R>(call) {
        @Override
        public void sendHeaders(Metadata head) {
          if (asked.containsKey(HEAD)) {
            head.put(HEAD, asked.get(HEAD));
          }
          super.sendHeaders(head);
        }

        @Override
        public void close(Status status, Metadata trailers) {
          if (asked.containsKey(TRAILER)) {
            trailers.put(TRAILER, asked.get(TRAILER));
          }
          super.close(status, trailers);
        }
      }, asked);
    }
  }

  /** Counts over all calls: a caller that names forms makes one call at a time. */
  private static final CountingGzip GZIP = new CountingGzip();
  private static int counted;

  /** Returns what a request's call ends with before it is answered, or null. */
  private static synchronized Status failure(Request request) {
    Form form = GZIP.count() > counted ? Form.COMPRESSED : Form.PLAIN;
    counted = GZIP.count();
    if (request.getForm() != Form.ANY && request.getForm() != form) {
      return Status.INVALID_ARGUMENT.withDescription("not " + request.getForm());
    }
    return null;
  }

  private static void sleep(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  /** Sends what is asked for, each in its form, and returns what the call then ends with, or null. */
  private static Status send(Request request, StreamObserver<Response> responses) {
    Status failure = failure(request);
    if (failure != null) {
      return failure;
    }
    for (Answer answer : request.getAnswersList()) {
      sleep(answer.getDelayMs());
      ((ServerCallStreamObserver<Response>) responses)
          .setMessageCompression(answer.getForm() == Form.COMPRESSED);
      responses.onNext(
          Response.newBuilder().setBody(ByteString.copyFrom(new byte[answer.getSize()])).build());
    }
    return request.getEnding().getCode() == 0
        ? null
        : Status.fromCodeValue(request.getEnding().getCode())
              .withDescription(request.getEnding().getMessage());
  }

  private static void end(Status failure, StreamObserver<?> responses) {
    if (failure != null) {
      responses.onError(failure.asException());
    } else {
      responses.onCompleted();
    }
  }

  private static void compress(StreamObserver<Response> responses) {
    ((ServerCallStreamObserver<Response>) responses).setCompression("gzip");
  }

  private static void emptyCall(Empty request, StreamObserver<Empty> responses) {
    responses.onNext(Empty.getDefaultInstance());
    responses.onCompleted();
  }

  private static void unaryCall(Request request, StreamObserver<Response> responses) {
    compress(responses);
    Status failure = send(request, responses);
    if (failure == null && request.getAnswersCount() == 0) {
      responses.onNext(Response.getDefaultInstance());
    }
    end(failure, responses);
  }

  private static void streamingOutput(Request request, StreamObserver<Response> responses) {
    compress(responses);
    end(send(request, responses), responses);
  }

  /** Requests that are answered one by one, until one ends the call. */
  private abstract static class Requests implements StreamObserver<Request> {
    private final StreamObserver<?> responses;
    private boolean ended;

    Requests(StreamObserver<?> responses) {
      this.responses = responses;
    }

    /** Returns what the call ends with, or null. */
    abstract Status answer(Request request);

    @Override
    public void onNext(Request request) {
      Status failure = ended ? null : answer(request);
      if (failure != null) {
        ended = true;
        end(failure, responses);
      }
    }

    @Override
    public void onError(Throwable cancelled) {}

    @Override
    public void onCompleted() {
      if (!ended) {
        responses.onCompleted();
      }
    }
  }

  private static StreamObserver<Request> streamingInput(StreamObserver<Total> responses) {
    return new Requests(responses) {
      private long size;

      @Override
      Status answer(Request request) {
        size += request.getBody().size();
        return failure(request);
      }

      @Override
      public void onCompleted() {
        responses.onNext(Total.newBuilder().setSize(size).build());
        super.onCompleted();
      }
    };
  }

  private static StreamObserver<Request> fullDuplex(StreamObserver<Response> responses) {
    compress(responses);
    return new Requests(responses) {
      @Override
      Status answer(Request request) {
        return send(request, responses);
      }
    };
  }

  public static void main(String[] arguments) throws Exception {
    io.grpc.Server server =
        Grpc.newServerBuilderForPort(0, Credentials.server())
            .decompressorRegistry(GZIP.registry())
            .intercept(new EchoMetadata())
            .addService(
                ServerServiceDefinition.builder(TestService.NAME)
                    .addMethod(TestService.EMPTY_CALL,
                        ServerCalls.asyncUnaryCall(Server::emptyCall))
                    .addMethod(TestService.UNARY_CALL,
                        ServerCalls.asyncUnaryCall(Server::unaryCall))
                    .addMethod(TestService.STREAMING_INPUT,
                        ServerCalls.asyncClientStreamingCall(Server::streamingInput))
                    .addMethod(TestService.STREAMING_OUTPUT,
                        ServerCalls.asyncServerStreamingCall(Server::streamingOutput))
                    .addMethod(TestService.FULL_DUPLEX,
                        ServerCalls.asyncBidiStreamingCall(Server::fullDuplex))
                    .build())
            .build()
            .start();
    System.out.println("listening 127.0.0.1:" + server.getPort());
    System.in.readAllBytes();
    server.shutdownNow();
  }
}
