// SPDX-License-Identifier: GPL-2.0-or-later

// A client and a server of HTTP/3 made of quic-go, for tests/interop/interop.py.
//
//	interop client ADDRESS CASE BYTES    prints "ok", or why not; exit status 1 then
//	interop server ADDRESS CERTIFICATE KEY
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

func body(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i = (i + 1) % 4096 {
		fmt.Fprintf(&b, "%07d\n", i)
	}
	return b.Bytes()[:n]
}

func digest(b []byte) string {
	return fmt.Sprintf("%d %x", len(b), sha256.Sum256(b))
}

type client struct {
	address string
	tls     *tls.Config
	quic    *quic.Config
}

func newClient(address string) *client {
	return &client{address, &tls.Config{InsecureSkipVerify: true, ServerName: "localhost",
		ClientSessionCache: tls.NewLRUClientSessionCache(10)}, &quic.Config{}}
}

func (c *client) transport() *http3.Transport {
	return &http3.Transport{TLSClientConfig: c.tls, QUICConfig: c.quic}
}

func do(t *http3.Transport, method, url string, content []byte) ([]byte, *http.Response, error) {
	r, err := http.NewRequest(method, url, bytes.NewReader(content))
	if err != nil {
		return nil, nil, err
	}
	a, err := t.RoundTrip(r)
	if err != nil {
		return nil, nil, err
	}
	defer a.Body.Close()
	got, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != 200 {
		err = fmt.Errorf("status %d", a.StatusCode)
	}
	return got, a, err
}

func (c *client) down(t *http3.Transport, n int) error {
	got, _, err := do(t, "GET", fmt.Sprintf("https://%s/%d", c.address, n), nil)
	if err == nil && !bytes.Equal(got, body(n)) {
		err = errors.New("another body than " + digest(body(n)) + ": " + digest(got))
	}
	return err
}

func (c *client) up(t *http3.Transport, n int) error {
	got, _, err := do(t, "POST", "https://"+c.address+"/", body(n))
	if err == nil && string(got) != digest(body(n)) {
		err = errors.New("another body arrived: " + string(got))
	}
	return err
}

func (c *client) streams(t *http3.Transport, n int) error {
	var all sync.WaitGroup
	failed := make(chan error, n)
	for range n {
		all.Add(1)
		go func() {
			defer all.Done()
			if err := c.down(t, 100); err != nil {
				failed <- err
			}
		}()
	}
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func (c *client) again(early bool) error {
	first := c.transport()
	if err := c.down(first, 10); err != nil {
		return err
	}
	time.Sleep(300 * time.Millisecond) // the tickets come
	first.Close()
	second := c.transport()
	defer second.Close()
	method := "GET"
	if early {
		method = http3.MethodGet0RTT
	}
	_, a, err := do(second, method, "https://"+c.address+"/10", nil)
	if err == nil && !a.TLS.DidResume {
		err = errors.New("the session was not resumed")
	}
	if err == nil && early && a.Header.Get("x-early") != "1" {
		err = errors.New("it was not early")
	}
	return err
}

func (c *client) run(name string, n int) error {
	if name == "version 2" {
		c.quic.Versions = []quic.Version{quic.Version2}
	}
	t := c.transport()
	defer t.Close()
	switch name {
	case "resumption", "0-RTT":
		return c.again(name == "0-RTT")
	case "1,000 streams":
		return c.streams(t, 1000)
	case "up":
		return c.up(t, n)
	case "both":
		if err := c.up(t, n); err != nil {
			return err
		}
	}
	return c.down(t, n)
}

func serve(w http.ResponseWriter, r *http.Request) {
	content, _ := io.ReadAll(r.Body)
	if r.Method == "POST" {
		io.WriteString(w, digest(content))
		return
	}
	n, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
	w.Header().Set("Content-Length", strconv.Itoa(n))
	w.Write(body(n))
}

func run(args []string) error {
	if len(args) == 4 && args[0] == "client" {
		n, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		return newClient(args[1]).run(args[2], n)
	}
	if len(args) == 4 && args[0] == "server" {
		s := http3.Server{Addr: args[1], Handler: http.HandlerFunc(serve), QUICConfig: &quic.Config{Allow0RTT: true}}
		go func() { // ends with the test
			io.Copy(io.Discard, os.Stdin)
			s.Shutdown(context.Background())
			os.Exit(0)
		}()
		return s.ListenAndServeTLS(args[2], args[3])
	}
	return errors.New("usage: see main.go")
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok")
}
