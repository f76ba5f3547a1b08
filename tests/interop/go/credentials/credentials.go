// SPDX-License-Identifier: Apache-2.0

// Package credentials says what the programs speak: plaintext, or mTLS with the files of the folder
// INTEROP_TLS.
package credentials

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// Of returns the same for clients and servers; without INTEROP_TLS it is plaintext. A client whose
// folder has no certificate shows none.
func Of() credentials.TransportCredentials {
	folder := os.Getenv("INTEROP_TLS")
	if folder == "" {
		return insecure.NewCredentials()
	}
	ca, err := os.ReadFile(filepath.Join(folder, "ca.pem"))
	if err != nil {
		log.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(ca)
	config := &tls.Config{
		RootCAs: trusted, ClientCAs: trusted, ClientAuth: tls.RequireAndVerifyClientCert}
	own, err := tls.LoadX509KeyPair(
		filepath.Join(folder, "own.crt"), filepath.Join(folder, "own.key"))
	if err == nil {
		config.Certificates = []tls.Certificate{own}
	} else if !errors.Is(err, fs.ErrNotExist) {
		log.Fatal(err)
	}
	return credentials.NewTLS(config)
}
