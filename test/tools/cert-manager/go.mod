module cdk8s-etcd.test/cert-manager

go 1.25.0

require github.com/cert-manager/cert-manager v1.21.2
