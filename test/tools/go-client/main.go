// Command go-client writes one key after the other into etcd until it gets SIGTERM: see agent/test/clients/support/writing-client.ts.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

const patience = time.Second

func main() {
	endpoints := flag.String("endpoints", "", "URLs, separated by commas")
	directory := flag.String("directory", "", "of ca.crt, tls.crt and tls.key")
	prefix := flag.String("prefix", "go-", "of the keys")
	reads := flag.String("reads", "all", "files that are read again: all, certificate, none")
	flag.Parse()
	client, err := clientFor(*reads, *directory, strings.Split(*endpoints, ","))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	write(stop, client, *prefix)
}

func clientFor(reads, directory string, endpoints []string) (*clientv3.Client, error) {
	if reads == "all" {
		return connect(directory, endpoints)
	}
	config, err := startTLS(reads, directory)
	if err != nil {
		return nil, err
	}
	return clientv3.New(clientv3.Config{Endpoints: endpoints, TLS: config, Logger: zap.NewNop()})
}

func startTLS(reads, directory string) (*tls.Config, error) {
	if reads == "none" {
		return readTLS(directory)
	}
	at := func(name string) string { return filepath.Join(directory, name) }
	return transport.TLSInfo{CertFile: at("tls.crt"), KeyFile: at("tls.key"), TrustedCAFile: at("ca.crt")}.ClientConfig()
}

func write(stop context.Context, client *clientv3.Client, prefix string) {
	written, failed := 0, 0
	last, longest := time.Now(), time.Duration(0)
	for n := 0; stop.Err() == nil; n++ {
		key := fmt.Sprint(prefix, n)
		if err := put(client, key); err != nil {
			failed++
			print(map[string]any{"key": key, "error": err.Error()})
		} else {
			written++
			longest = max(longest, time.Since(last))
			last = time.Now()
			if written%10 == 0 {
				print(map[string]any{"written": written})
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	print(map[string]any{"written": written, "failed": failed, "longestGap": longest.Milliseconds()})
}

// put tries again until a second after the first error.
func put(client *clientv3.Client, key string) error {
	for until := (time.Time{}); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		_, err := client.Put(ctx, key, "x")
		cancel()
		if until.IsZero() {
			until = time.Now().Add(patience)
		}
		if err == nil || time.Now().After(until) {
			return err
		}
	}
}

func print(line map[string]any) {
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}
