// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A server of gRPC refuses streams only beyond a limit, so the frames are written here.
type refuser struct {
	share   float64
	framer  *http2.Framer
	block   bytes.Buffer
	encoder *hpack.Encoder
}

func (r *refuser) fields(stream uint32, end bool, pairs ...string) error {
	r.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		if err := r.encoder.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}); err != nil {
			return err
		}
	}
	return r.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: r.block.Bytes(), EndHeaders: true, EndStream: end})
}

func (r *refuser) answer(stream uint32) error {
	err := r.fields(stream, false, ":status", "200", "content-type", "application/grpc")
	if err == nil {
		err = r.framer.WriteData(stream, false, make([]byte, 5)) // an empty message
	}
	if err == nil {
		err = r.fields(stream, true, "grpc-status", "0")
	}
	return err
}

func (r *refuser) take(frame http2.Frame, refused map[uint32]bool) error {
	switch frame := frame.(type) {
	case *http2.SettingsFrame:
		if !frame.IsAck() {
			return r.framer.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !frame.IsAck() {
			return r.framer.WritePing(true, frame.Data)
		}
	case *http2.MetaHeadersFrame:
		if rand.Float64() < r.share {
			refused[frame.StreamID] = true
			return r.framer.WriteRSTStream(frame.StreamID, http2.ErrCodeRefusedStream)
		}
	case *http2.DataFrame:
		if size := uint32(len(frame.Data())); size > 0 {
			if err := r.framer.WriteWindowUpdate(0, size); err != nil {
				return err
			}
		}
		if frame.StreamEnded() && !refused[frame.StreamID] {
			return r.answer(frame.StreamID)
		}
	}
	return nil
}

func (r *refuser) run(connection net.Conn) {
	defer connection.Close()
	if _, err := io.ReadFull(connection, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	r.framer = http2.NewFramer(connection, connection)
	r.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	r.encoder = hpack.NewEncoder(&r.block)
	refused := map[uint32]bool{}
	err := r.framer.WriteSettings()
	for err == nil {
		var frame http2.Frame
		if frame, err = r.framer.ReadFrame(); err == nil {
			err = r.take(frame, refused)
		}
	}
}

func refuse(share float64, listener net.Listener) {
	for {
		connection, err := listener.Accept()
		check(err)
		go (&refuser{share: share}).run(connection)
	}
}
