// SPDX-License-Identifier: Apache-2.0
// Runs the interop cases with grpc-go.
//
//	cases LEVEE TARGET    prints a line per case: "ok NAME", "failed NAME: WHY" or
//	                      "skipped NAME: WHY"
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"levee/interop/credentials"
	"levee/interop/forms"
	"levee/interop/pb"
)

const (
	patience = 300 * time.Second
	large    = 300_000
	special  = "\t\ndykes hold 100% \r\n\u2713 and \U0001F30A\t\n"
	binary   = "\x00\xff\x0a\x2c"
)

var sizes = []int{31_000, 9, 2_500, 60_000}

type client struct {
	test    pb.TestServiceClient
	missing pb.MissingServiceClient
}

func begin() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

func expectEnd(err error, code codes.Code, message string) error {
	if got := status.Convert(err); got.Code() != code || got.Message() != message {
		return fmt.Errorf("ended with %v %q", got.Code(), got.Message())
	}
	return nil
}

func expectCode(err error, code codes.Code) error {
	return expectEnd(err, code, status.Convert(err).Message())
}

func expectBody(response *pb.Response, size int) error {
	if !bytes.Equal(response.GetBody(), make([]byte, size)) {
		return fmt.Errorf("a body of %d bytes", len(response.GetBody()))
	}
	return nil
}

func answer(size int, form pb.Form) *pb.Answer {
	return &pb.Answer{Size: uint32(size), Form: form}
}

func ending(code codes.Code, message string) *pb.Request {
	return &pb.Request{Ending: &pb.Ending{Code: int32(code), Message: message}}
}

func (c client) emptyUnary() error {
	ctx, cancel := begin()
	defer cancel()
	_, err := c.test.EmptyCall(ctx, &pb.Empty{})
	return err
}

// Makes a call whose answer is to have that size, and that form unless the request asks for none.
func (c client) unary(request *pb.Request, size int, options ...grpc.CallOption) error {
	ctx, cancel := begin()
	defer cancel()
	ctx, seen := forms.Watch(ctx)
	response, err := c.test.UnaryCall(ctx, request, options...)
	if err != nil {
		return err
	}
	if len(request.Answers) > 0 && !seen.Fits(request.Answers[0].Form) {
		return fmt.Errorf("the answer is not %v", request.Answers[0].Form)
	}
	return expectBody(response, size)
}

func (c client) largeUnary() error {
	return c.unary(&pb.Request{Body: make([]byte, large), Form: pb.Form_PLAIN,
		Answers: []*pb.Answer{answer(large, pb.Form_PLAIN)}}, large)
}

func (c client) clientCompressedUnary() error {
	body := make([]byte, large)
	return errors.Join(
		c.unary(&pb.Request{Body: body, Form: pb.Form_COMPRESSED}, 0,
			grpc.UseCompressor(gzip.Name)),
		c.unary(&pb.Request{Body: body, Form: pb.Form_PLAIN}, 0))
}

func (c client) serverCompressedUnary() error {
	return errors.Join(
		c.unary(&pb.Request{Answers: []*pb.Answer{answer(large, pb.Form_COMPRESSED)}}, large),
		c.unary(&pb.Request{Answers: []*pb.Answer{answer(large, pb.Form_PLAIN)}}, large))
}

// Reads the answers to a request to their end.
func (c client) output(request *pb.Request) error {
	ctx, cancel := begin()
	defer cancel()
	ctx, seen := forms.Watch(ctx)
	stream, err := c.test.StreamingOutput(ctx, request)
	if err != nil {
		return err
	}
	for _, asked := range request.Answers {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		if !seen.Fits(asked.Form) {
			return fmt.Errorf("an answer is not %v", asked.Form)
		}
		if err := expectBody(response, int(asked.Size)); err != nil {
			return err
		}
	}
	return expectEmptyEnd(stream.Recv())
}

func expectEmptyEnd(response *pb.Response, err error) error {
	if err == io.EOF {
		return nil
	}
	return fmt.Errorf("an answer too many (%v) or %w", response, err)
}

func (c client) serverCompressedStreaming() error {
	return c.output(&pb.Request{Answers: []*pb.Answer{
		answer(large, pb.Form_COMPRESSED), answer(large, pb.Form_PLAIN)}})
}

func (c client) clientStreaming() error {
	ctx, cancel := begin()
	defer cancel()
	stream, err := c.test.StreamingInput(ctx)
	if err != nil {
		return err
	}
	for _, size := range sizes {
		if err := stream.Send(&pb.Request{Body: make([]byte, size)}); err != nil {
			return err
		}
	}
	total, err := stream.CloseAndRecv()
	if err == nil && total.Size != 93_509 {
		err = fmt.Errorf("a total of %d", total.Size)
	}
	return err
}

func (c client) serverStreaming() error {
	request := &pb.Request{}
	for _, size := range sizes {
		request.Answers = append(request.Answers, answer(size, pb.Form_ANY))
	}
	return c.output(request)
}

func (c client) pingPong() error {
	ctx, cancel := begin()
	defer cancel()
	stream, err := c.test.FullDuplex(ctx)
	if err != nil {
		return err
	}
	for _, size := range sizes {
		response, err := exchange(stream, &pb.Request{Body: make([]byte, size),
			Answers: []*pb.Answer{answer(size, pb.Form_ANY)}})
		if err = errors.Join(err, expectBody(response, size)); err != nil {
			return err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	return expectEmptyEnd(stream.Recv())
}

func exchange(stream grpc.BidiStreamingClient[pb.Request, pb.Response],
	request *pb.Request) (*pb.Response, error) {
	if err := stream.Send(request); err != nil {
		return nil, err
	}
	return stream.Recv()
}

func (c client) emptyStream() error {
	ctx, cancel := begin()
	defer cancel()
	stream, err := c.test.FullDuplex(ctx)
	if err == nil {
		err = stream.CloseSend()
	}
	if err != nil {
		return err
	}
	return expectEmptyEnd(stream.Recv())
}

func (c client) customMetadata() error {
	ctx, cancel := begin()
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(
		ctx, "x-interop-head", "at the head", "x-interop-trailer-bin", binary)
	var head, trailers metadata.MD
	_, err := c.test.EmptyCall(ctx, &pb.Empty{}, grpc.Header(&head), grpc.Trailer(&trailers))
	if err = errors.Join(err, expectMetadata(head, trailers)); err != nil {
		return err
	}

	stream, err := c.test.FullDuplex(ctx)
	if err != nil {
		return err
	}
	if _, err := exchange(stream, &pb.Request{
		Answers: []*pb.Answer{answer(1, pb.Form_ANY)}}); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	if err := expectEmptyEnd(stream.Recv()); err != nil {
		return err
	}
	head, err = stream.Header()
	return errors.Join(err, expectMetadata(head, stream.Trailer()))
}

func expectMetadata(head, trailers metadata.MD) error {
	if !slices.Equal(head.Get("x-interop-head"), []string{"at the head"}) {
		return fmt.Errorf("the headers are %v", head)
	}
	if !slices.Equal(trailers.Get("x-interop-trailer-bin"), []string{binary}) {
		return fmt.Errorf("the trailers are %v", trailers)
	}
	return nil
}

func (c client) statusCodeAndMessage() error {
	ctx, cancel := begin()
	defer cancel()
	request := ending(codes.Unknown, "as asked for")
	_, err := c.test.UnaryCall(ctx, request)
	if err := expectEnd(err, codes.Unknown, "as asked for"); err != nil {
		return err
	}
	stream, err := c.test.FullDuplex(ctx)
	if err != nil {
		return err
	}
	_, err = exchange(stream, request)
	return expectEnd(err, codes.Unknown, "as asked for")
}

func (c client) specialStatusMessage() error {
	ctx, cancel := begin()
	defer cancel()
	_, err := c.test.UnaryCall(ctx, ending(codes.Unknown, special))
	return expectEnd(err, codes.Unknown, special)
}

func (c client) unimplementedMethod() error {
	ctx, cancel := begin()
	defer cancel()
	_, err := c.test.Missing(ctx, &pb.Empty{})
	return expectCode(err, codes.Unimplemented)
}

func (c client) unimplementedService() error {
	ctx, cancel := begin()
	defer cancel()
	_, err := c.missing.Missing(ctx, &pb.Empty{})
	return expectCode(err, codes.Unimplemented)
}

func (c client) cancelAfterBegin() error {
	ctx, cancel := begin()
	defer cancel()
	stream, err := c.test.StreamingInput(ctx)
	if err != nil {
		return err
	}
	cancel()
	_, err = stream.CloseAndRecv()
	return expectCode(err, codes.Canceled)
}

func (c client) cancelAfterFirstResponse() error {
	ctx, cancel := begin()
	defer cancel()
	stream, err := c.test.FullDuplex(ctx)
	if err != nil {
		return err
	}
	if _, err := exchange(stream, &pb.Request{
		Answers: []*pb.Answer{answer(9, pb.Form_ANY)}}); err != nil {
		return err
	}
	cancel()
	_, err = stream.Recv()
	return expectCode(err, codes.Canceled)
}

func (c client) timeoutOnSleepingServer() error {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	stream, err := c.test.FullDuplex(ctx)
	if err == nil {
		_, err = exchange(stream, &pb.Request{Answers: []*pb.Answer{{Size: 9, DelayMs: 5_000}}})
	}
	return expectCode(err, codes.DeadlineExceeded)
}

func run(name string, check func() error) {
	if err := check(); err != nil {
		fmt.Printf("failed %s: %v\n", name, err)
		return
	}
	fmt.Println("ok", name)
}

func main() {
	connection, err := grpc.NewClient(os.Args[1], grpc.WithAuthority(os.Args[2]),
		grpc.WithTransportCredentials(credentials.Of()),
		grpc.WithStatsHandler(forms.Handler{}))
	if err != nil {
		log.Fatal(err)
	}
	c := client{pb.NewTestServiceClient(connection), pb.NewMissingServiceClient(connection)}
	run("empty_unary", c.emptyUnary)
	run("large_unary", c.largeUnary)
	run("client_compressed_unary", c.clientCompressedUnary)
	run("server_compressed_unary", c.serverCompressedUnary)
	fmt.Println("skipped client_compressed_streaming: grpc-go compresses a whole call or nothing of it")
	run("server_compressed_streaming", c.serverCompressedStreaming)
	run("client_streaming", c.clientStreaming)
	run("server_streaming", c.serverStreaming)
	run("ping_pong", c.pingPong)
	run("empty_stream", c.emptyStream)
	run("custom_metadata", c.customMetadata)
	run("status_code_and_message", c.statusCodeAndMessage)
	run("special_status_message", c.specialStatusMessage)
	run("unimplemented_method", c.unimplementedMethod)
	run("unimplemented_service", c.unimplementedService)
	run("cancel_after_begin", c.cancelAfterBegin)
	run("cancel_after_first_response", c.cancelAfterFirstResponse)
	run("timeout_on_sleeping_server", c.timeoutOnSleepingServer)
}
