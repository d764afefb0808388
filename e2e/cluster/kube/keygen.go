package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
)

// keygen prints a new private key for signing ServiceAccount tokens, so that a
// cluster needs no openssl on the machine.
func keygen() int {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		fmt.Fprintln(os.Stderr, "keygen:", err)
		return 1
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		fmt.Fprintln(os.Stderr, "keygen:", err)
		return 1
	}
	if err := pem.Encode(os.Stdout, &pem.Block{Type: "EC PRIVATE KEY", Bytes: der}); err != nil {
		fmt.Fprintln(os.Stderr, "keygen:", err)
		return 1
	}
	return 0
}
