// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"

	"levee/interop/pb"
)

// As streams.Lane has it.
type lane struct {
	Method     string       `json:"method"`
	Callers    int          `json:"callers"`
	DelaysMs   []float64    `json:"delays_ms"`
	Seconds    *float64     `json:"seconds"`
	EveryMs    float64      `json:"every_ms"`
	ApartMs    float64      `json:"apart_ms"`
	WakesMs    float64      `json:"wakes_ms"`
	Known      bool         `json:"known"`
	DeadlineMs float64      `json:"deadline_ms"`
	Open       bool         `json:"open"`
	Slower     []float64    `json:"slower"`
	Spread     string       `json:"spread"`
	Tries      int          `json:"tries"`
	TriesEvery int          `json:"tries_every"`
	Hang       bool         `json:"hang"`
	Faults     [][2]float64 `json:"faults"`
	Head       int          `json:"head"`
	Trailer    int          `json:"trailer"`
	Apart      bool         `json:"apart"`
	Pool       int          `json:"pool"`
	Wait       bool         `json:"wait"`
	Endpoints  int          `json:"endpoints"`

	channels []*grpc.ClientConn
	row      int // of its first calls
	begin    time.Time
	over     context.Context // done when what has no end is to end
	pool     chan struct{}
	results  *results
}

type results struct {
	lock  sync.Mutex
	begun time.Time
	lines []string
}

func (r *results) add(row int, at time.Time, code string) {
	line := fmt.Sprintf("%d %d %d %s", row, at.Sub(r.begun).Microseconds(), time.Since(at).Microseconds(), code)
	r.lock.Lock()
	r.lines = append(r.lines, line)
	r.lock.Unlock()
}

func milliseconds(value float64) time.Duration {
	return time.Duration(value * float64(time.Millisecond))
}

// How many rows of the table its calls have.
func (l *lane) rows() int {
	if l.Tries > 0 {
		return 2
	}
	return max(len(l.Faults), l.Endpoints-1) + 1
}

// Returns which of its rows a call belongs to, and the metadata that makes it fail.
func (l *lane) fate(caller, call int, at time.Time) (int, []string) {
	if l.Tries > 0 {
		if call%l.TriesEvery != 0 {
			return 1, nil
		}
		pairs := []string{callKey, fmt.Sprintf("%d-%d", caller, call), triesKey, strconv.Itoa(l.Tries)}
		if l.Hang {
			pairs = append(pairs, hangKey, "1")
		}
		return 0, pairs
	}
	for i, fault := range l.Faults {
		passed := at.Sub(l.begin).Seconds()
		if fault[0] <= passed && passed < fault[1] {
			if l.Apart {
				return i, nil
			}
			until := l.begin.Add(milliseconds(1000 * fault[1])).UnixNano()
			return i, []string{untilKey, strconv.FormatInt(until, 10)}
		}
	}
	return len(l.Faults), nil
}

func (l *lane) delays() []float64 {
	passed := time.Since(l.begin).Seconds()
	factor := 1.0
	if len(l.Slower) == 3 && l.Slower[0] <= passed && passed < l.Slower[1] {
		factor = l.Slower[2]
	}
	switch l.Spread {
	case "exponential":
		factor *= rand.ExpFloat64()
	case "bimodal": // the second of the two is one of twenty
		if rand.Float64() < 0.05 {
			return []float64{factor * l.DelaysMs[1]}
		}
		return []float64{factor * l.DelaysMs[0]}
	}
	delays := []float64{}
	if l.WakesMs > 0 { // The first comes at once, and the others at the same time on all streams.
		all := float64(l.Callers)*l.ApartMs + l.WakesMs
		delays = append(delays, 0, all-1000*passed)
	}
	for _, delay := range l.DelaysMs {
		delays = append(delays, factor*delay)
	}
	return delays
}

func asking(delays ...float64) *pb.Request {
	request := &pb.Request{}
	for _, delay := range delays {
		answer := &pb.Answer{Size: 9, DelayMs: uint32(math.Round(max(0, delay)))}
		request.Answers = append(request.Answers, answer)
	}
	return request
}

func drain[T any](receive func() (*T, error)) error {
	for {
		if _, err := receive(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func chat(ctx context.Context, stub pb.TestServiceClient, delays []float64) error {
	stream, err := stub.FullDuplex(ctx)
	for _, delay := range delays {
		if err == nil {
			err = stream.Send(asking(0))
		}
		if err == nil {
			_, err = stream.Recv()
		}
		if err == nil {
			err = wait(ctx, milliseconds(delay))
		}
	}
	if err != nil {
		return err
	}
	_ = stream.CloseSend()
	return drain(stream.Recv)
}

func upload(ctx context.Context, stub pb.TestServiceClient, delays []float64) error {
	stream, err := stub.StreamingInput(ctx)
	for _, delay := range delays {
		if err == nil {
			err = stream.Send(&pb.Request{})
		}
		time.Sleep(milliseconds(delay))
	}
	if err == nil || err == io.EOF {
		_, err = stream.CloseAndRecv()
	}
	return err
}

func (l *lane) make(ctx context.Context, stub pb.TestServiceClient, delays []float64,
	options ...grpc.CallOption) error {
	switch l.Method {
	case "unary":
		_, err := stub.UnaryCall(ctx, asking(delays...), append(options, grpc.WaitForReady(l.Wait))...)
		return err
	case "poll":
		_, err := stub.EmptyCall(ctx, &pb.Empty{})
		return err
	case "output":
		stream, err := stub.StreamingOutput(ctx, asking(delays...))
		if err != nil {
			return err
		}
		return drain(stream.Recv)
	case "chat":
		return chat(ctx, stub, delays)
	}
	return upload(ctx, stub, delays)
}

// Makes one call and keeps how it ended. Its time begins with `at`, before it has a thread of the pool.
func (l *lane) one(caller, call int, at time.Time) {
	row, pairs := l.fate(caller, call, at)
	if l.Head > 0 {
		pairs = append(pairs, headKey, strconv.Itoa(l.Head))
	}
	if l.Trailer > 0 {
		pairs = append(pairs, trailerKey, strconv.Itoa(l.Trailer))
	}
	if l.pool != nil {
		l.pool <- struct{}{}
		defer func() { <-l.pool }()
	}
	ctx := metadata.AppendToOutgoingContext(l.over, pairs...)
	if l.DeadlineMs > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, milliseconds(l.DeadlineMs))
		defer cancel()
	}
	var head metadata.MD
	stub := pb.NewTestServiceClient(l.channels[caller%len(l.channels)])
	err := l.make(ctx, stub, l.delays(), grpc.Header(&head))
	if l.Endpoints > 0 {
		row = int(asked(head, endpointKey))
	}
	name := code.Code_name[int32(status.Code(err))]
	if l.over.Err() != nil {
		name = "OPEN"
	}
	l.results.add(l.row+row, at, name)
}

func (l *lane) caller(number int) {
	time.Sleep(milliseconds(float64(number) * l.ApartMs))
	at := time.Now()
	var calls sync.WaitGroup
	defer calls.Wait()
	for call := 0; l.over.Err() == nil; call++ {
		if l.Open {
			begun := at
			calls.Go(func() { l.one(number, call, begun) })
		} else {
			l.one(number, call, at)
		}
		at = at.Add(milliseconds(l.EveryMs))
		if now := time.Now(); !l.Open && at.Before(now) {
			at = now
		}
		if l.Seconds != nil && at.Sub(l.begin).Seconds() >= *l.Seconds {
			return
		}
		select {
		case <-time.After(time.Until(at)):
		case <-l.over.Done():
		}
	}
}

func (l *lane) run() {
	if l.Known {
		check(l.make(l.over, pb.NewTestServiceClient(l.channels[0]), []float64{0, 0, 0}))
	}
	l.begin = time.Now()
	var callers sync.WaitGroup
	for number := range l.Callers {
		callers.Go(func() { l.caller(number) })
	}
	callers.Wait()
}

func dial(address, config string) *grpc.ClientConn {
	options := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy()}
	if config != "" {
		options = append(options, grpc.WithDefaultServiceConfig(config))
	}
	if several := strings.Split(address, "+"); len(several) > 1 {
		state := resolver.State{}
		for _, each := range several {
			state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: each}}})
		}
		list := manual.NewBuilderWithScheme("list")
		list.InitialState(state)
		address = "list:///" + several[0]
		options = append(options, grpc.WithResolvers(list))
	}
	channel, err := grpc.NewClient(address, options...)
	check(err)
	return channel
}

// Gives the lanes what they share. Lanes with the same addresses share their channels.
func prepare(lanes []*lane, addresses, config string, over context.Context) *results {
	kept := &results{begun: time.Now()}
	channels := map[string][]*grpc.ClientConn{}
	groups := strings.Split(addresses, ";")
	var pool chan struct{}
	row := 0
	for i, l := range lanes {
		group := groups[min(i, len(groups)-1)]
		if channels[group] == nil {
			for _, address := range strings.Split(group, ",") {
				channels[group] = append(channels[group], dial(address, config))
			}
		}
		if l.Pool > 0 && pool == nil {
			pool = make(chan struct{}, l.Pool)
		}
		l.channels, l.row, l.over, l.pool, l.results = channels[group], row, over, pool, kept
		row += l.rows()
	}
	return kept
}

func call(addresses, text, config string) {
	var lanes []*lane
	check(json.Unmarshal([]byte(text), &lanes))
	over, end := context.WithCancel(context.Background())
	defer end()
	kept := prepare(lanes, addresses, config, over)
	var endless, bounded sync.WaitGroup
	opening := 0.0
	for _, l := range lanes {
		if l.Seconds == nil {
			endless.Go(l.run)
			opening = max(opening, 500+float64(l.Callers)*l.ApartMs)
		}
	}
	time.Sleep(milliseconds(opening))
	fmt.Println("open")
	closed := len(lanes)
	for _, l := range lanes {
		if l.Seconds != nil {
			bounded.Go(l.run)
			closed--
		}
	}
	bounded.Wait()
	if closed == len(lanes) { // All stay open.
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	end()
	endless.Wait()
	out := bufio.NewWriter(os.Stdout)
	for _, line := range kept.lines {
		fmt.Fprintln(out, line)
	}
	check(out.Flush())
}
