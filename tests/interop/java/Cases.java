// SPDX-License-Identifier: Apache-2.0
// Runs the interop cases with grpc-java.
//
// Cases LEVEE TARGET    prints a line per case: "ok NAME" or "failed NAME: WHY"

import com.google.protobuf.ByteString;
import interop.v1.Answer;
import interop.v1.Empty;
import interop.v1.Ending;
import interop.v1.Form;
import interop.v1.Request;
import interop.v1.Response;
import interop.v1.Total;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.BlockingClientCall;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

public final class Cases {
  private static final int LARGE = 300_000;
  private static final int[] SIZES = {31_000, 9, 2_500, 60_000};
  private static final String SPECIAL = "\t\ndykes hold 100% \r\n\u2713 and \ud83c\udf0a\t\n";
  private static final byte[] BINARY = {0, (byte) 0xff, 0x0a, 0x2c};
  private static final Metadata.Key<String> HEAD =
      Metadata.Key.of("x-interop-head", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<byte[]> TRAILER =
      Metadata.Key.of("x-interop-trailer-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private final CountingGzip gzip = new CountingGzip();
  private final ManagedChannel channel;

  private Cases(String levee, String target) throws IOException {
    channel = Grpc.newChannelBuilder(levee, Credentials.client())
                  .overrideAuthority(target)
                  .decompressorRegistry(gzip.registry())
                  .build();
  }

  private static void expect(Object got, Object wanted) {
    if (!got.equals(wanted)) {
      throw new IllegalStateException(got + " is not " + wanted);
    }
  }

  private interface Step {
    void run() throws Exception;
  }

  private static void expectCode(Status.Code code, Step step) throws Exception {
    expect(statusOf(step).getCode(), code);
  }

  private static Status statusOf(Step step) throws Exception {
    try {
      step.run();
    } catch (StatusException error) {
      return error.getStatus();
    } catch (StatusRuntimeException error) {
      return error.getStatus();
    }
    return Status.OK;
  }

  private static CallOptions options() {
    return CallOptions.DEFAULT.withDeadlineAfter(300, TimeUnit.SECONDS);
  }

  private static Request.Builder asking(Form form, int... sizes) {
    Request.Builder request = Request.newBuilder();
    for (int size : sizes) {
      request.addAnswers(Answer.newBuilder().setSize(size).setForm(form));
    }
    return request;
  }

  private static Request withBody(int size, Form form, Request.Builder request) {
    return request.setBody(ByteString.copyFrom(new byte[size])).setForm(form).build();
  }

  private static Request ending(String message) {
    return Request.newBuilder()
        .setEnding(Ending.newBuilder().setCode(2).setMessage(message))
        .build();
  }

  private static void expectBody(Response response, int size) {
    expect(response.getBody(), ByteString.copyFrom(new byte[size]));
  }

  private void emptyUnary() {
    ClientCalls.blockingUnaryCall(
        channel, TestService.EMPTY_CALL, options(), Empty.getDefaultInstance());
  }

  /** Makes a call and checks the size of the answer, and its form if one is asked for. */
  private void unary(Request request, CallOptions options) {
    int before = gzip.count();
    Response response =
        ClientCalls.blockingUnaryCall(channel, TestService.UNARY_CALL, options, request);
    boolean answered = request.getAnswersCount() > 0;
    expectBody(response, answered ? request.getAnswers(0).getSize() : 0);
    if (answered && request.getAnswers(0).getForm() != Form.ANY) {
      expect(gzip.count() > before, request.getAnswers(0).getForm() == Form.COMPRESSED);
    }
  }

  private void largeUnary() {
    unary(withBody(LARGE, Form.PLAIN, asking(Form.PLAIN, LARGE)), options());
  }

  private void clientCompressedUnary() {
    unary(withBody(LARGE, Form.COMPRESSED, Request.newBuilder()),
        options().withCompression("gzip"));
    unary(withBody(LARGE, Form.PLAIN, Request.newBuilder()), options());
  }

  private void serverCompressedUnary() {
    unary(asking(Form.COMPRESSED, LARGE).build(), options());
    unary(asking(Form.PLAIN, LARGE).build(), options());
  }

  private void clientCompressedStreaming() throws Exception {
    Input input = new Input(options().withCompression("gzip"));
    input.call.setMessageCompression(true);
    input.call.sendMessage(withBody(LARGE, Form.COMPRESSED, Request.newBuilder()));
    input.call.setMessageCompression(false);
    input.call.sendMessage(withBody(LARGE, Form.PLAIN, Request.newBuilder()));
    expect(input.end(), 2L * LARGE);
  }

  private void output(Request request) {
    Iterator<Response> responses = ClientCalls.blockingServerStreamingCall(
        channel, TestService.STREAMING_OUTPUT, options(), request);
    for (Answer answer : request.getAnswersList()) {
      expectBody(responses.next(), answer.getSize());
    }
    expect(responses.hasNext(), false);
  }

  private void serverCompressedStreaming() {
    int before = gzip.count();
    output(asking(Form.COMPRESSED, LARGE)
               .addAnswers(Answer.newBuilder().setSize(LARGE).setForm(Form.PLAIN))
               .build());
    expect(gzip.count() - before, 1);
  }

  /** A StreamingInput call whose requests may each be compressed or not. */
  private final class Input extends ClientCall.Listener<Total> {
    final ClientCall<Request, Total> call;
    private final AtomicReference<Total> total = new AtomicReference<>();
    private final BlockingQueue<Status> status = new LinkedBlockingQueue<>();

    Input(CallOptions options) {
      call = channel.newCall(TestService.STREAMING_INPUT, options);
      call.start(this, new Metadata());
      call.request(2);
    }

    @Override
    public void onMessage(Total message) {
      total.set(message);
    }

    @Override
    public void onClose(Status ended, Metadata trailers) {
      status.add(ended);
    }

    long end() throws Exception {
      call.halfClose();
      expect(status.take().getCode(), Status.Code.OK);
      return total.get().getSize();
    }
  }

  private void clientStreaming() throws Exception {
    Input input = new Input(options());
    for (int size : SIZES) {
      input.call.sendMessage(withBody(size, Form.PLAIN, Request.newBuilder()));
    }
    expect(input.end(), 93_509L);
  }

  private void serverStreaming() {
    output(asking(Form.ANY, SIZES).build());
  }

  private BlockingClientCall<Request, Response> duplex(Channel over, CallOptions options) {
    return ClientCalls.blockingBidiStreamingCall(over, TestService.FULL_DUPLEX, options);
  }

  private static void end(BlockingClientCall<Request, Response> call) throws Exception {
    call.halfClose();
    if (call.read() != null) {
      throw new IllegalStateException("an answer too many");
    }
  }

  private void pingPong() throws Exception {
    BlockingClientCall<Request, Response> call = duplex(channel, options());
    for (int size : SIZES) {
      call.write(withBody(size, Form.PLAIN, asking(Form.ANY, size)));
      expectBody(call.read(), size);
    }
    end(call);
  }

  private void emptyStream() throws Exception {
    end(duplex(channel, options()));
  }

  private void customMetadata() throws Exception {
    Metadata asked = new Metadata();
    asked.put(HEAD, "at the head");
    asked.put(TRAILER, BINARY);
    AtomicReference<Metadata> head = new AtomicReference<>();
    AtomicReference<Metadata> trailers = new AtomicReference<>();
    Channel asking = ClientInterceptors.intercept(channel,
        MetadataUtils.newAttachHeadersInterceptor(asked),
        MetadataUtils.newCaptureMetadataInterceptor(head, trailers));

    ClientCalls.blockingUnaryCall(
        asking, TestService.EMPTY_CALL, options(), Empty.getDefaultInstance());
    expectMetadata(head.get(), trailers.get());

    BlockingClientCall<Request, Response> call = duplex(asking, options());
    call.write(asking(Form.ANY, 1).build());
    expectBody(call.read(), 1);
    end(call);
    expectMetadata(head.get(), trailers.get());
  }

  private static void expectMetadata(Metadata head, Metadata trailers) {
    expect(head.get(HEAD), "at the head");
    expect(Arrays.equals(trailers.get(TRAILER), BINARY), true);
  }

  private void statusCodeAndMessage() throws Exception {
    expectUnknown("as asked for", () -> unary(ending("as asked for"), options()));
    BlockingClientCall<Request, Response> call = duplex(channel, options());
    call.write(ending("as asked for"));
    expectUnknown("as asked for", call::read);
  }

  private static void expectUnknown(String message, Step step) throws Exception {
    Status status = statusOf(step);
    expect(status.getCode(), Status.Code.UNKNOWN);
    expect(status.getDescription(), message);
  }

  private void specialStatusMessage() throws Exception {
    expectUnknown(SPECIAL, () -> unary(ending(SPECIAL), options()));
  }

  private void unimplemented(MethodDescriptor<Empty, Empty> method) throws Exception {
    expectCode(Status.Code.UNIMPLEMENTED, () -> ClientCalls.blockingUnaryCall(
        channel, method, options(), Empty.getDefaultInstance()));
  }

  private void cancelAfterBegin() throws Exception {
    Input input = new Input(options());
    input.call.cancel("as planned", null);
    expect(input.status.take().getCode(), Status.Code.CANCELLED);
  }

  private void cancelAfterFirstResponse() throws Exception {
    BlockingClientCall<Request, Response> call = duplex(channel, options());
    call.write(asking(Form.ANY, 9).build());
    expectBody(call.read(), 9);
    call.cancel("as planned", null);
    expectCode(Status.Code.CANCELLED, call::read);
  }

  private void timeoutOnSleepingServer() throws Exception {
    BlockingClientCall<Request, Response> call = duplex(
        channel, CallOptions.DEFAULT.withDeadlineAfter(50, TimeUnit.MILLISECONDS));
    Answer late = Answer.newBuilder().setSize(9).setDelayMs(5_000).build();
    expectCode(Status.Code.DEADLINE_EXCEEDED, () -> {
      call.write(Request.newBuilder().addAnswers(late).build());
      call.read();
    });
  }

  private static void run(String name, Step step) {
    try {
      step.run();
      System.out.println("ok " + name);
    } catch (Exception error) {
      String why = error.toString().replace("\n", " ");
      System.out.println("failed " + name + ": " + why.substring(0, Math.min(why.length(), 300)));
    }
  }

  private void runAll() {
    run("empty_unary", this::emptyUnary);
    run("large_unary", this::largeUnary);
    run("client_compressed_unary", this::clientCompressedUnary);
    run("server_compressed_unary", this::serverCompressedUnary);
    run("client_compressed_streaming", this::clientCompressedStreaming);
    run("server_compressed_streaming", this::serverCompressedStreaming);
    run("client_streaming", this::clientStreaming);
    run("server_streaming", this::serverStreaming);
    run("ping_pong", this::pingPong);
    run("empty_stream", this::emptyStream);
    run("custom_metadata", this::customMetadata);
    run("status_code_and_message", this::statusCodeAndMessage);
    run("special_status_message", this::specialStatusMessage);
    run("unimplemented_method", () -> unimplemented(TestService.MISSING_METHOD));
    run("unimplemented_service", () -> unimplemented(TestService.MISSING_SERVICE));
    run("cancel_after_begin", this::cancelAfterBegin);
    run("cancel_after_first_response", this::cancelAfterFirstResponse);
    run("timeout_on_sleeping_server", this::timeoutOnSleepingServer);
    channel.shutdownNow();
  }

  public static void main(String[] arguments) throws IOException {
    new Cases(arguments[0], arguments[1]).runAll();
  }
}
