// SPDX-License-Identifier: Apache-2.0
// Calls the test's service through Levee with grpc-java.
//
// Client calls LEVEE TARGET                 one call of each kind, whose first attempt fails
// Client storm LEVEE TARGET SERVICE_CONFIG  300 calls of which every attempt fails

import com.google.gson.Gson;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.BlockingClientCall;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class Client {
  private static final int SECONDS = 300;
  private static final int STORM_CALLS = 300;
  private static final int STORM_THREADS = 10;

  /** Messages are plain text. */
  private static final class Text implements MethodDescriptor.Marshaller<String> {
    @Override
    public InputStream stream(String message) {
      return new ByteArrayInputStream(message.getBytes());
    }

    @Override
    public String parse(InputStream bytes) {
      try {
        return new String(bytes.readAllBytes());
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }
  }

  private static ManagedChannel dial(String levee, String target) {
    // DOCUMENT:
    ManagedChannel channel = Grpc.newChannelBuilder(levee, InsecureChannelCredentials.create())
        .overrideAuthority(target).build();
    // :DOCUMENT
    return channel;
  }

  @SuppressWarnings("unchecked")
  private static ManagedChannel dialRetrying(String levee, String target, String serviceConfig) {
    return Grpc.newChannelBuilder(levee, InsecureChannelCredentials.create())
        .overrideAuthority(target)
        .defaultServiceConfig(new Gson().fromJson(serviceConfig, Map.class))
        .build();
  }

  private static Channel failingFirst(Channel channel, String attempts) {
    Metadata metadata = new Metadata();
    metadata.put(Metadata.Key.of("x-fail-first", Metadata.ASCII_STRING_MARSHALLER), attempts);
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(metadata));
  }

  private static MethodDescriptor<String, String> method(MethodType type, String name) {
    return MethodDescriptor.newBuilder(new Text(), new Text())
        .setType(type)
        .setFullMethodName("shop.Cart/" + name)
        .build();
  }

  private static CallOptions options() {
    return CallOptions.DEFAULT.withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
  }

  private static String unary(Channel channel) {
    return ClientCalls.blockingUnaryCall(
        channel, method(MethodType.UNARY, "Unary"), options(), "hello");
  }

  private static void oneOfEachKind(Channel channel) throws Exception {
    System.out.println("unary " + unary(channel));

    StringBuilder sizes = new StringBuilder("stream");
    ClientCalls.blockingServerStreamingCall(
            channel, method(MethodType.SERVER_STREAMING, "Stream"), options(), "3 5")
        .forEachRemaining(message -> sizes.append(' ').append(message));
    System.out.println(sizes);

    StringBuilder echoes = new StringBuilder("chat");
    BlockingClientCall<String, String> chat = ClientCalls.blockingBidiStreamingCall(
        channel, method(MethodType.BIDI_STREAMING, "Chat"), options());
    for (String word : new String[] {"one", "two", "three"}) {
      chat.write(word);
      echoes.append(' ').append(chat.read());
    }
    chat.halfClose();
    for (String rest = chat.read(); rest != null; rest = chat.read()) {
      echoes.append(' ').append(rest);
    }
    System.out.println(echoes);
  }

  private static void storm(Channel channel) throws Exception {
    Map<Status.Code, Integer> counts = new ConcurrentHashMap<>();
    ExecutorService threads = Executors.newFixedThreadPool(STORM_THREADS);
    for (int i = 0; i < STORM_CALLS; ++i) {
      threads.execute(() -> {
        Status.Code code = Status.Code.OK;
        try {
          unary(channel);
        } catch (StatusRuntimeException error) {
          code = error.getStatus().getCode();
        }
        counts.merge(code, 1, Integer::sum);
      });
    }
    threads.shutdown();
    threads.awaitTermination(SECONDS, TimeUnit.SECONDS);
    counts.forEach((code, count) -> System.out.println(code + " " + count));
  }

  public static void main(String[] arguments) throws Exception {
    boolean storm = arguments[0].equals("storm");
    ManagedChannel channel = storm
        ? dialRetrying(arguments[1], arguments[2], arguments[3])
        : dial(arguments[1], arguments[2]);
    try {
      if (storm) {
        storm(failingFirst(channel, "1000"));
      } else {
        oneOfEachKind(failingFirst(channel, "1"));
      }
    } finally {
      channel.shutdownNow();
    }
  }
}
