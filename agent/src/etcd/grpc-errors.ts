import { AgentError, codeOf, ExitCode, messageOf, usageError } from '../lib/errors.ts';

const unavailable = (message: string, cause?: unknown) => new AgentError(ExitCode.etcdUnavailable, message, { cause });

/**
 * Error for a server that closes a connection before it sends anything. Over plain http, the server may have expected
 * TLS.
 */
export function greetingError(endpoint: string, error: unknown): AgentError {
  const isClosed = error === undefined || ['ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '');
  return isClosed && endpoint.startsWith('http:') ? closedPlainly(endpoint, error) : connectionError(endpoint, error);
}

const closedPlainly = (endpoint: string, error: unknown): AgentError =>
  unavailable(
    `etcd at ${endpoint} closed the connection; if it uses TLS, write https:// and pass --cacert; if this is its port for peers (usually 2380), use that for clients (2379)`,
    error,
  );

/** Translates a failed connection into an error that says what to do. */
export function connectionError(endpoint: string, error: unknown): AgentError {
  const code = codeOf(error) ?? '';
  const message = error === undefined ? 'connection closed' : messageOf(error);
  const at = `etcd at ${endpoint}`;
  if (code === 'CERT_HAS_EXPIRED') return usageError(`${at}: the server's certificate has expired; renew it`, error);
  if (code === 'CERT_NOT_YET_VALID')
    return usageError(`${at}: the server's certificate is not valid yet; check the clock`, error);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return usageError(
      `${at}: the server's certificate is for other names; use an endpoint that it lists (${message})`,
      error,
    );
  }
  if (/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/.test(code)) {
    return usageError(
      `${at}: the server's certificate is signed by an unknown authority; pass its CA with --cacert`,
      error,
    );
  }
  if (/ALERT_CERTIFICATE_EXPIRED/.test(code))
    return usageError(`${at} rejects the client's certificate as expired; renew --cert`, error);
  if (/CERTIFICATE_REQUIRED/.test(code))
    return usageError(`${at} requires a client certificate; pass --cert and --key`, error);
  if (/ERR_SSL.*(ALERT|CERTIFICATE)/.test(code)) {
    return usageError(`${at} refused the TLS handshake (${alertOf(code)}); check --cert, --key and --cacert`, error);
  }
  if (code === 'EPROTO' || /ERR_SSL/.test(code))
    return usageError(`${at} does not use TLS; write http:// or check the port`, error);
  if (/^ERR_HTTP2/.test(code)) return closedPlainly(endpoint, error);
  if (code === 'ECONNRESET' && endpoint.startsWith('https:')) {
    return unavailable(`${at} closed the TLS connection (${code}); if it uses plain http, write http://`, error);
  }
  if (code === 'ENOTFOUND')
    return unavailable(
      `${at}: the host name cannot be resolved; check --endpoints and, for a member of an EtcdCluster, that its pod is ready`,
      error,
    );
  return unavailable(`${at} cannot be reached (${code || message})`, error);
}

function alertOf(code: string): string {
  return code
    .replace(/^ERR_SSL_/, '')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/** Translates a gRPC status of etcd into an error. The patterns match the texts of etcd's rpctypes. */
export function statusError(endpoint: string, status: number, message: string): AgentError {
  const at = `etcd at ${endpoint}`;
  if (/user name is empty/.test(message))
    return usageError(`${at} requires authentication; pass --user and --password-file`);
  if (/invalid user ID or password|no password user/.test(message))
    return usageError(`${at} refuses the user or password; check --user and --password-file`);
  if (/permission denied/.test(message))
    return usageError(
      `${at}: permission denied; a snapshot needs a user with the root role, by --user or by the client certificate's name`,
    );
  if (/invalid auth token/.test(message)) return unavailable(`${at} no longer accepts the auth token; try again`);
  return unavailable(`${at}: ${message || `gRPC status ${status}`}`);
}
