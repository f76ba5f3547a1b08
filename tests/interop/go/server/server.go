// SPDX-License-Identifier: Apache-2.0
// Serves interop.proto with grpc-go: prints "listening HOST:PORT", and ends with its standard input.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // Registers it.
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"levee/interop/credentials"
	"levee/interop/forms"
	"levee/interop/pb"
)

type service struct {
	pb.UnimplementedTestServiceServer
}

func echoMetadata(ctx context.Context) {
	got, _ := metadata.FromIncomingContext(ctx)
	for _, value := range got.Get("x-interop-head") {
		_ = grpc.SetHeader(ctx, metadata.Pairs("x-interop-head", value))
	}
	for _, value := range got.Get("x-interop-trailer-bin") {
		_ = grpc.SetTrailer(ctx, metadata.Pairs("x-interop-trailer-bin", value))
	}
}

func checkForm(ctx context.Context, request *pb.Request) error {
	if !forms.Of(ctx).Fits(request.Form) {
		return status.Errorf(codes.InvalidArgument, "not %v", request.Form)
	}
	return nil
}

// A call that has begun to be compressed stays so: grpc-go leaves no choice per message.
func response(ctx context.Context, answer *pb.Answer) (*pb.Response, error) {
	select {
	case <-time.After(time.Duration(answer.DelayMs) * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &pb.Response{Body: make([]byte, answer.Size)}, nil
}

func compressIfAsked(ctx context.Context, answers []*pb.Answer) error {
	for _, answer := range answers {
		if answer.Form == pb.Form_COMPRESSED {
			return grpc.SetSendCompressor(ctx, "gzip")
		}
	}
	return nil
}

func ended(request *pb.Request) error {
	return status.Error(codes.Code(request.GetEnding().GetCode()), request.GetEnding().GetMessage())
}

func (service) EmptyCall(ctx context.Context, _ *pb.Empty) (*pb.Empty, error) {
	echoMetadata(ctx)
	return &pb.Empty{}, nil
}

func (service) UnaryCall(ctx context.Context, request *pb.Request) (*pb.Response, error) {
	echoMetadata(ctx)
	if err := checkForm(ctx, request); err != nil {
		return nil, err
	}
	if len(request.Answers) == 0 {
		return &pb.Response{}, ended(request)
	}
	if err := compressIfAsked(ctx, request.Answers); err != nil {
		return nil, err
	}
	return response(ctx, request.Answers[0])
}

func (service) StreamingInput(stream grpc.ClientStreamingServer[pb.Request, pb.Total]) error {
	echoMetadata(stream.Context())
	total := &pb.Total{}
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(total)
		}
		if err == nil {
			err = checkForm(stream.Context(), request)
		}
		if err != nil {
			return err
		}
		total.Size += uint64(len(request.Body))
	}
}

func sendAnswers(stream grpc.ServerStreamingServer[pb.Response], request *pb.Request) error {
	for _, answer := range request.Answers {
		message, err := response(stream.Context(), answer)
		if err == nil {
			err = stream.Send(message)
		}
		if err != nil {
			return err
		}
	}
	return ended(request)
}

func (service) StreamingOutput(
	request *pb.Request, stream grpc.ServerStreamingServer[pb.Response]) error {
	echoMetadata(stream.Context())
	if err := compressIfAsked(stream.Context(), request.Answers); err != nil {
		return err
	}
	return sendAnswers(stream, request)
}

func (service) FullDuplex(stream grpc.BidiStreamingServer[pb.Request, pb.Response]) error {
	echoMetadata(stream.Context())
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = sendAnswers(stream, request)
		}
		if err != nil {
			return err
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(credentials.Of()), grpc.StatsHandler(forms.Handler{Server: true}))
	pb.RegisterTestServiceServer(server, service{})
	fmt.Println("listening", listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		server.Stop()
	}()
	if err := server.Serve(listener); err != nil {
		log.Fatal(err)
	}
}
