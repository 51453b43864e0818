import tls from 'node:tls';

/**
 * Every certificate of a given authority file is trusted, also an intermediate without its root, as cert-manager's Vault issuer
 * writes it to `ca.crt`: etcd, etcdctl and kubectl do the same. Set for all connections of the process, because the client of
 * S3 makes its contexts itself and has no option for it.
 */
const create = tls.createSecureContext;
tls.createSecureContext = (options) => create(options?.ca ? { allowPartialTrustChain: true, ...options } : options);
