// Receives webhooks. Go 1.18 or newer, nothing to install:
//
//	WEBHOOK_SECRET=... PORT=8000 go run receive.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tolerance = 5 * time.Minute
	maxBytes  = 4 << 20
)

var secret = os.Getenv("WEBHOOK_SECRET")

func sign(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

func isEqual(given, expected string) bool {
	return hmac.Equal([]byte(given), []byte(expected))
}

// X-Webhook-Signature: of the body alone, keyed with the secret as it is written.
func isBodySigned(headers http.Header, body []byte) bool {
	expected := "sha256=" + hex.EncodeToString(sign([]byte(secret), body))
	return isEqual(headers.Get("X-Webhook-Signature"), expected) ||
		isEqual(headers.Get("X-Webhook-Signature-Previous"), expected)
}

// Standard Webhooks: of the id and the time too, so that nobody can send an old message again.
func isMessageSigned(headers http.Header, body []byte) bool {
	id, sentAt := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age > tolerance || age < -tolerance {
		return false
	}
	key := []byte(secret)
	if encoded := strings.TrimPrefix(secret, "whsec_"); encoded != secret {
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return false
		}
	}
	expected := "v1," + base64.StdEncoding.EncodeToString(sign(key, []byte(id+"."+sentAt+"."), body))
	for _, given := range strings.Split(headers.Get("webhook-signature"), " ") {
		if isEqual(given, expected) {
			return true
		}
	}
	return false
}

// In your program: a unique column, written in one transaction with what the message changes.
var taken sync.Map

// Takes a message once, however often it is sent. Only write it down here: the sender waits.
func take(id, event string) {
	if _, isKnown := taken.LoadOrStore(id, true); !isKnown {
		fmt.Println(id, event)
	}
}

func receive(response http.ResponseWriter, request *http.Request) {
	// The bytes as they came: JSON that was parsed and written again has another signature.
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBytes))
	if err != nil {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if !isBodySigned(request.Header, body) || !isMessageSigned(request.Header, body) {
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	var message struct {
		Event     string          `json:"event"`
		Timestamp time.Time       `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &message); err != nil {
		response.WriteHeader(http.StatusInternalServerError)
		return
	}
	take(request.Header.Get("webhook-id"), message.Event)
	response.WriteHeader(http.StatusNoContent)
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8000"
	}
	if secret == "" {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("receiving at http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, http.HandlerFunc(receive)))
}
