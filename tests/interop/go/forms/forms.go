// SPDX-License-Identifier: Apache-2.0
// Package forms tells in which form the messages of a call arrived.
package forms

import (
	"context"
	"sync"

	"google.golang.org/grpc/stats"

	"levee/interop/pb"
)

type key struct{}

// Seen holds the forms of a call's messages, in the order of their arrival.
type Seen struct {
	lock  sync.Mutex
	forms []pb.Form
}

// All returns the forms so far.
func (seen *Seen) All() []pb.Form {
	seen.lock.Lock()
	defer seen.lock.Unlock()
	return append([]pb.Form{}, seen.forms...)
}

// Fits says whether the last message arrived in that form.
func (seen *Seen) Fits(form pb.Form) bool {
	all := seen.All()
	return form == pb.Form_ANY || len(all) > 0 && all[len(all)-1] == form
}

// Watch returns the context for a call whose messages are to be seen.
func Watch(ctx context.Context) (context.Context, *Seen) {
	seen := &Seen{}
	return context.WithValue(ctx, key{}, seen), seen
}

// Of returns what was seen of the call with that context.
func Of(ctx context.Context) *Seen {
	return ctx.Value(key{}).(*Seen)
}

// Handler watches the calls of a server, and of a client those whose context comes from Watch.
type Handler struct{ Server bool }

// TagRPC starts to watch a call.
func (handler Handler) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	if handler.Server {
		ctx, _ = Watch(ctx)
	}
	return ctx
}

// HandleRPC takes the form from each message that arrives.
func (Handler) HandleRPC(ctx context.Context, event stats.RPCStats) {
	seen, watched := ctx.Value(key{}).(*Seen)
	message, arrived := event.(*stats.InPayload)
	if !watched || !arrived {
		return
	}
	form := pb.Form_PLAIN
	if message.CompressedLength < message.Length {
		form = pb.Form_COMPRESSED
	}
	seen.lock.Lock()
	defer seen.lock.Unlock()
	seen.forms = append(seen.forms, form)
}

// TagConn does nothing.
func (Handler) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn does nothing.
func (Handler) HandleConn(context.Context, stats.ConnStats) {}
