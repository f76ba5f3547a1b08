// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"levee/interop/pb"
)

// What a call's metadata asks for.
const (
	callKey    = "x-weather-call"    // tells the attempts of one call from those of others
	triesKey   = "x-weather-tries"   // so many of them fail
	hangKey    = "x-weather-hang"    // they are not answered, in place of answered with UNAVAILABLE
	untilKey   = "x-weather-until"   // Unix time in nanoseconds until which each of them fails
	headKey    = "x-weather-head"    // bytes of a header that comes back
	trailerKey = "x-weather-trailer" // bytes of a trailer that comes back
	// In a header of the answer:
	endpointKey = "x-weather-endpoint" // the number of the service
)

type service struct {
	pb.UnimplementedTestServiceServer
	number string // of the endpoint that it is
	poll   time.Duration
	slots  chan struct{} // nil: no bound
	lock   sync.Mutex
	tries  map[string]int64 // by call
}

func asked(md metadata.MD, key string) int64 {
	if values := md.Get(key); len(values) > 0 {
		value, err := strconv.ParseInt(values[0], 10, 64)
		check(err)
		return value
	}
	return 0
}

func (s *service) fails(md metadata.MD) bool {
	if time.Now().UnixNano() < asked(md, untilKey) {
		return true
	}
	wanted := asked(md, triesKey)
	if wanted == 0 {
		return false
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	call := md.Get(callKey)[0]
	s.tries[call]++
	return s.tries[call] <= wanted
}

func (s *service) misbehave(ctx context.Context, request any, _ *grpc.UnaryServerInfo,
	handler grpc.UnaryHandler) (any, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if size := asked(md, headKey); size > 0 {
		check(grpc.SetHeader(ctx, metadata.Pairs(headKey, strings.Repeat("x", int(size)))))
	}
	if size := asked(md, trailerKey); size > 0 {
		check(grpc.SetTrailer(ctx, metadata.Pairs(trailerKey, strings.Repeat("x", int(size)))))
	}
	if s.fails(md) {
		if asked(md, hangKey) > 0 {
			<-ctx.Done()
		}
		return nil, status.Error(codes.Unavailable, "the weather is bad")
	}
	// A failure has no head of its own: gRPC retries no call of which a head has come.
	check(grpc.SetHeader(ctx, metadata.Pairs(endpointKey, s.number)))
	return handler(ctx, request)
}

func (s *service) EmptyCall(ctx context.Context, _ *pb.Empty) (*pb.Empty, error) {
	return &pb.Empty{}, wait(ctx, s.poll)
}

// With slots it works on calls whose callers have gone, too, as most services do.
func (s *service) UnaryCall(ctx context.Context, request *pb.Request) (*pb.Response, error) {
	delay := time.Duration(request.Answers[0].DelayMs) * time.Millisecond
	if s.slots == nil {
		return &pb.Response{}, wait(ctx, delay)
	}
	s.slots <- struct{}{}
	time.Sleep(delay)
	<-s.slots
	return &pb.Response{}, nil
}

func (s *service) StreamingInput(stream grpc.ClientStreamingServer[pb.Request, pb.Total]) error {
	for {
		if _, err := stream.Recv(); err != nil {
			return stream.SendAndClose(&pb.Total{})
		}
	}
}

func send(ctx context.Context, request *pb.Request, out func(*pb.Response) error) error {
	for _, answer := range request.Answers {
		if err := wait(ctx, time.Duration(answer.DelayMs)*time.Millisecond); err != nil {
			return err
		}
		if err := out(&pb.Response{Body: make([]byte, answer.Size)}); err != nil {
			return err
		}
	}
	return nil
}

func (s *service) StreamingOutput(request *pb.Request,
	stream grpc.ServerStreamingServer[pb.Response]) error {
	return send(stream.Context(), request, stream.Send)
}

func (s *service) FullDuplex(stream grpc.BidiStreamingServer[pb.Request, pb.Response]) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return nil
		}
		if err := send(stream.Context(), request, stream.Send); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, delay time.Duration) error {
	if delay == 0 {
		return nil
	}
	select {
	case <-time.After(delay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func serve(pollSeconds float64, slots int, number string, listener net.Listener) {
	s := &service{number: number, poll: time.Duration(pollSeconds * float64(time.Second)),
		tries: map[string]int64{}}
	if slots > 0 {
		s.slots = make(chan struct{}, slots)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(s.misbehave))
	pb.RegisterTestServiceServer(server, s)
	check(server.Serve(listener))
}
