import { AgentError, codeOf, ExitCode, messageOf, usageError } from '../lib/errors.ts';
import type { EtcdMistake, Finding } from '../lib/finding.ts';

const unavailable = (message: string, cause?: unknown, finding?: Finding) =>
  new AgentError(ExitCode.etcdUnavailable, message, { cause, finding });

const mistake = (message: string, cause?: unknown, kind?: EtcdMistake) =>
  usageError(message, { cause, finding: kind && { kind } });

/**
 * Error for a server that closes a connection before it sends anything. Over plain http, the server may have expected
 * TLS.
 */
export function greetingError(endpoint: string, error: unknown): AgentError {
  const isClosed = error === undefined || ['ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '');
  return isClosed && endpoint.startsWith('http:') ? closedPlainly(endpoint, error) : connectionError(endpoint, error);
}

const closedPlainly = (endpoint: string, error: unknown): AgentError =>
  unavailable(`etcd at ${endpoint} closed the connection`, error, { kind: 'closedPlainly' });

/** Translates a failed connection into an error that says what to do. */
export function connectionError(endpoint: string, error: unknown): AgentError {
  const code = codeOf(error) ?? '';
  const message = error === undefined ? 'connection closed' : messageOf(error);
  const at = `etcd at ${endpoint}`;
  if (code === 'CERT_HAS_EXPIRED') return mistake(`${at}: the server's certificate has expired; renew it`, error);
  if (code === 'CERT_NOT_YET_VALID')
    return mistake(`${at}: the server's certificate is not valid yet; check the clock`, error);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return mistake(
      `${at}: the server's certificate is for other names; use an endpoint that it lists (${message})`,
      error,
    );
  }
  if (/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/.test(code)) {
    return mistake(`${at}: the server's certificate is signed by an unknown authority`, error, 'unknownAuthority');
  }
  if (/ALERT_CERTIFICATE_EXPIRED/.test(code))
    return mistake(`${at} rejects the client's certificate as expired`, error, 'certificateExpired');
  if (/CERTIFICATE_REQUIRED/.test(code))
    return mistake(`${at} requires a client certificate`, error, 'certificateMissing');
  if (/ERR_SSL.*(ALERT|CERTIFICATE)/.test(code)) {
    return mistake(`${at} refused the TLS handshake (${alertOf(code)})`, error, 'handshakeRefused');
  }
  if (code === 'EPROTO' || /ERR_SSL/.test(code)) return mistake(`${at} does not use TLS`, error, 'noTls');
  if (/^ERR_HTTP2/.test(code)) return closedPlainly(endpoint, error);
  if (code === 'ECONNRESET' && endpoint.startsWith('https:')) {
    return unavailable(`${at} closed the TLS connection (${code})`, error, { kind: 'closedTls' });
  }
  if (code === 'ENOTFOUND')
    return unavailable(`${at}: the host name cannot be resolved`, error, { kind: 'unknownHost' });
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
  if (/user name is empty/.test(message)) return mistake(`${at} requires authentication`, undefined, 'userMissing');
  if (/invalid user ID or password|no password user/.test(message))
    return mistake(`${at} refuses the user or password`, undefined, 'userRefused');
  if (/permission denied/.test(message)) return mistake(`${at}: permission denied`, undefined, 'notRoot');
  if (/invalid auth token/.test(message)) return unavailable(`${at} no longer accepts the auth token; try again`);
  return unavailable(`${at}: ${message || `gRPC status ${status}`}`);
}
