// SPDX-License-Identifier: Apache-2.0
// Calls the test's service through Levee with grpc-go.
//
//	client calls LEVEE TARGET                 one call of each kind, whose first attempt fails
//	client storm LEVEE TARGET SERVICE_CONFIG  300 calls of which every attempt fails
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	patience        = 300 * time.Second
	stormCalls      = 300
	stormGoroutines = 10
)

// Messages are plain bytes.
type bytesCodec struct{}

func (bytesCodec) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*message.(*[]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, message any) error {
	*message.(*[]byte) = data.Materialize()
	return nil
}

func (bytesCodec) Name() string { return "proto" }

func dial(levee, target string) *grpc.ClientConn {
	// DOCUMENT:
	connection, err := grpc.NewClient(levee, grpc.WithAuthority(target),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	// :DOCUMENT
	check(err)
	return connection
}

func dialRetrying(levee, target, serviceConfig string) *grpc.ClientConn {
	connection, err := grpc.NewClient(levee, grpc.WithAuthority(target),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(serviceConfig))
	check(err)
	return connection
}

func failFirst(attempts string) (context.Context, context.CancelFunc) {
	ctx := metadata.AppendToOutgoingContext(context.Background(), "x-fail-first", attempts)
	return context.WithTimeout(ctx, patience)
}

func unary(connection *grpc.ClientConn, attemptsToFail string) (string, error) {
	ctx, cancel := failFirst(attemptsToFail)
	defer cancel()
	request := []byte("hello")
	var answer []byte
	err := connection.Invoke(ctx, "/shop.Cart/Unary", &request, &answer,
		grpc.ForceCodecV2(bytesCodec{}))
	return string(answer), err
}

// Sends the requests one by one, each once there is an answer to the one before, and prints all
// answers.
func stream(connection *grpc.ClientConn, kind, method string, requests ...string) {
	ctx, cancel := failFirst("1")
	defer cancel()
	description := grpc.StreamDesc{ServerStreams: true, ClientStreams: len(requests) > 1}
	call, err := connection.NewStream(ctx, &description, method, grpc.ForceCodecV2(bytesCodec{}))
	check(err)
	fmt.Print(kind)
	var answer []byte
	for i, text := range requests {
		if i > 0 {
			check(call.RecvMsg(&answer))
			fmt.Print(" ", string(answer))
		}
		request := []byte(text)
		check(call.SendMsg(&request))
	}
	check(call.CloseSend())
	for err = call.RecvMsg(&answer); err == nil; err = call.RecvMsg(&answer) {
		fmt.Print(" ", string(answer))
	}
	if err != io.EOF {
		log.Fatal(err)
	}
	fmt.Println()
}

func storm(connection *grpc.ClientConn) {
	var lock sync.Mutex
	var all sync.WaitGroup
	counts := map[codes.Code]int{}
	for range stormGoroutines {
		all.Go(func() {
			for range stormCalls / stormGoroutines {
				_, err := unary(connection, "1000")
				lock.Lock()
				counts[status.Code(err)]++
				lock.Unlock()
			}
		})
	}
	all.Wait()
	for code, count := range counts {
		fmt.Println(code, count)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	if os.Args[1] == "storm" {
		storm(dialRetrying(os.Args[2], os.Args[3], os.Args[4]))
		return
	}
	connection := dial(os.Args[2], os.Args[3])
	answer, err := unary(connection, "1")
	check(err)
	fmt.Println("unary", answer)
	stream(connection, "stream", "/shop.Cart/Stream", "3 5")
	stream(connection, "chat", "/shop.Cart/Chat", "one", "two", "three")
}
