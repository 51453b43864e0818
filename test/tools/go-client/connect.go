package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// connect returns a client that reads its files again for every connection that it opens.
func connect(directory string, endpoints []string) (*clientv3.Client, error) {
	reading := readingCredentials{credentials.NewTLS(nil), directory}
	options := []grpc.DialOption{grpc.WithTransportCredentials(reading)}
	return clientv3.New(clientv3.Config{Endpoints: endpoints, DialOptions: options})
}

type readingCredentials struct {
	credentials.TransportCredentials
	directory string
}

func (r readingCredentials) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	config, err := readTLS(r.directory)
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(config).ClientHandshake(ctx, authority, conn)
}

func (r readingCredentials) Clone() credentials.TransportCredentials { return r }

// readTLS reads three files that belong together: a kubelet replaces the directory that they are links into.
func readTLS(directory string) (*tls.Config, error) {
	file, err := filepath.EvalSymlinks(filepath.Join(directory, "tls.crt"))
	if err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(filepath.Dir(file), name) }
	pair, err := tls.LoadX509KeyPair(at("tls.crt"), at("tls.key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(at("ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s contains no certificate", at("ca.crt"))
	}
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}, nil
}
