// SPDX-License-Identifier: Apache-2.0
// The ends of tests/weather with grpc-go.
//
//	weather serve POLL_SECONDS SLOTS PORT NUMBER
//	                                         serves interop.proto, and does to each call what its metadata
//	                                         asks for; works on SLOTS calls at a time if that is not 0;
//	                                         answers with its number as an endpoint
//	weather refuse SHARE                     answers each call at once, and refuses a share of the streams
//	weather call ADDRESSES LANES [CONFIG]    LANES is JSON, a list of streams.Lane as objects. The addresses
//	                                         of a lane are separated by commas, those of the next lane
//	                                         follow a semicolon, and each address has a channel; one that
//	                                         has several joined by plus signs has one for all of them. CONFIG
//	                                         is gRPC's service config. Prints "open" when all that stay open
//	                                         have begun, and at the end a line for each call: its row, when
//	                                         it began and how long it took in microseconds, and its code
//
// A service prints "listening HOST:PORT", and ends with its standard input.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func number(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	check(err)
	return value
}

// Returns a listener that ends the program with its standard input.
func listen(port string) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	check(err)
	fmt.Println("listening", listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return listener
}

func main() {
	words := append(os.Args[1:], "", "", "", "")
	switch words[0] {
	case "serve":
		serve(number(words[1]), int(number(words[2])), words[4], listen(words[3]))
	case "refuse":
		refuse(number(words[1]), listen("0"))
	case "call":
		call(words[1], words[2], words[3])
	default:
		log.Fatal("usage: weather serve|refuse|call ...")
	}
}
