import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { hideSecrets } from '../secrets.ts';
import { type Answered, proxyThatAnswered, redirectedTo, regionOfHost } from './answer-source.ts';
import { CredentialsFailure, credentialsVerdict } from './credentials-fault.ts';

/** Error of the SDK: an answer of the server, or a failure on the way. */
interface ServiceError extends Error, Answered {
  readonly Region?: string;
  readonly Endpoint?: string;
}

/** Facts about the failed request. */
interface Failed {
  readonly url: string;
  /** The server, for network errors. */
  readonly endpoint: string;
  /** The proxy on the way to the server, if any. */
  readonly proxy?: string;
  /** Operation and key: `PutObject a/b.db`. */
  readonly operation: string;
  /** Texts that must not be printed. */
  readonly secrets: readonly string[];
}

type Verdict = readonly [exitCode: ExitCode, message: string];

const checkKeys = 'check the access key and its secret key';
const unknownKey = `the server does not know the access key; ${checkKeys}`;
const denied = 'these credentials do not allow this; grant the permission on the bucket and its objects';
const full = 'the store is full; give it more room or keep fewer snapshots';
const refusals: Record<string, string> = {
  NoSuchBucket: 'the bucket does not exist; create it (the agent never creates buckets)',
  AccessDenied: denied,
  AllAccessDisabled: denied,
  InvalidAccessKeyId: unknownKey,
  SignatureDoesNotMatch: `the secret key does not belong to the access key; ${checkKeys}`,
  ExpiredToken: 'the credentials have expired; renew them',
  InvalidToken: 'the session token is not valid; renew the credentials',
  RequestTimeTooSkewed: "the server's clock and the agent's clock differ too much; set the clock",
  QuotaExceeded: full,
  XAdminUserNotFound: unknownKey,
  XMinioStorageFull: full,
  NotImplemented: 'the server does not support this; use another server',
};
/** Errors that only the server's message identifies, because the code is misleading or missing. */
const encryption: readonly [RegExp, string][] = [
  [/\bkms\b/i, 'the KMS key cannot be used; check kmsKeyId, and the permissions on that key'],
  [
    /customer.?(provided|key)|hash of the key|form of server.side encryption/i,
    'sseCustomerKeyFile must hold the key that the object was written with',
  ],
];
const wrongRegion = new Set([
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
  'PermanentRedirect',
  'TemporaryRedirect',
]);
/** The server received other bytes than were sent, or not all of them. */
const damaged = new Set(['BadDigest', 'IncompleteBody', 'RequestTimeout', 'XAmzContentSHA256Mismatch']);

const unknownAuthority = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
const noTls = new Set(['EPROTO', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ERR_SSL_WRONG_VERSION_NUMBER']);

export const statusOf = (error: unknown) => (error as Partial<ServiceError>).$metadata?.httpStatusCode;

/** Whether the server has said a code, and not only a status. */
const hasCode = (error: unknown): boolean => {
  const { name } = error as Error;
  return /^[A-Za-z]\w+$/.test(name) && !/^(Error|TypeError|SyntaxError|UnknownError|Unknown|NotFound)$/.test(name);
};

/** Returns the server's error code. An answer to HEAD has no body, so there the code is derived from the status. */
export function serverCode(error: unknown): string {
  if (hasCode(error)) return (error as Error).name;
  const byStatus: Record<number, string> = { 403: 'AccessDenied', 404: 'NotFound', 503: 'ServiceUnavailable' };
  return byStatus[statusOf(error) ?? 0] ?? 'an error without a code';
}

/** True if fresh credentials may help: the ones in use may have been rotated. */
export function isAuthFailure(error: unknown): boolean {
  const status = statusOf(error);
  const codes = ['ExpiredToken', 'InvalidToken', 'XAdminUserNotFound'];
  return status === 401 || status === 403 || codes.includes(serverCode(error));
}

/** True if an object lock, a hold or a retention rule of the server protects the object. */
export function isRetained(error: unknown): boolean {
  const status = statusOf(error) ?? 0;
  if (status < 400 || status >= 500) return false;
  // Remove ARNs: the names of users and buckets in them may contain the same words.
  const message = messageOf(error).replaceAll(/arn:\S+/g, '');
  const locked = /object.?lock|\bWORM\b|legal.?hold|immutab|(under|governance|compliance|bypassgovernance).?retention/i;
  return locked.test(serverCode(error)) || locked.test(message);
}

/** Turns any error of the SDK into one line: the store, the operation, the server's code, and what to do. */
export function s3Fault(error: unknown, failed: Failed): AgentError {
  if (error instanceof AgentError) return error;
  const [exitCode, message] = verdict(error, failed);
  const text = `${failed.url}: ${failed.operation}: ${message}`.replaceAll(/\b(AKIA|ASIA)[A-Z0-9]{12,}\b/g, '***');
  return new AgentError(exitCode, hideSecrets(text, failed.secrets));
}

function verdict(error: unknown, { endpoint, proxy }: Failed): Verdict {
  if (error instanceof CredentialsFailure) return credentialsVerdict(error.cause);
  if ((error as Error).name === 'CredentialsProviderError') return credentialsVerdict(error);
  if (/region is missing/i.test(messageOf(error))) return [ExitCode.usage, 'no region; set region, or AWS_REGION'];
  if (statusOf(error) !== undefined) return serverVerdict(error as ServiceError, endpoint);
  return networkVerdict(error, endpoint, proxy);
}

function serverVerdict(error: ServiceError, endpoint: string): Verdict {
  const status = statusOf(error)!;
  const code = serverCode(error);
  const answer = `${code} (${status})`;
  if (wrongRegion.has(code) || (status >= 300 && status < 400)) {
    const redirect = hasCode(error) ? answer : `HTTP ${status}`;
    return [ExitCode.storeRefused, `${redirect}: ${redirectRemedy(error, endpoint)}`];
  }
  const proxy = proxyThatAnswered(error, hasCode(error));
  if (proxy) return proxyVerdict(status, proxy);
  const said = serverWords(error);
  const general = status < 500 || status === 507 ? generalRemedy(code, said) : undefined;
  if (general) return [ExitCode.storeRefused, `${answer}: ${general}${said}`];
  const remedy = status < 500 ? (encryptionRemedy(said) ?? refusalRemedy(code, status)) : refusalRemedy(code, status);
  if (remedy) return [ExitCode.storeRefused, `${answer}: ${remedy}${said}`];
  if (damaged.has(code)) {
    return [ExitCode.storeUnreachable, `${answer}: the data was damaged on its way to the server; try again${said}`];
  }
  const passing = status === 408 || status === 429 || status >= 500 || status < 400;
  if (passing) return [ExitCode.storeUnreachable, `${answer}: the server failed; try again later${said}`];
  return [ExitCode.storeRefused, `${answer}: the server refused${said}`];
}

function refusalRemedy(code: string, status: number): string | undefined {
  return refusals[code] ?? (status === 401 || status === 403 ? denied : status === 507 ? full : undefined);
}

function encryptionRemedy(said: string): string | undefined {
  // Remove ARNs: the names of users and buckets in them may contain the same words.
  const plain = said.replaceAll(/arn:\S+/g, '');
  return encryption.find(([words]) => words.test(plain))?.[1];
}

/** Remedies for what many providers say in words of their own. */
const generals: readonly (readonly [RegExp, string])[] = [
  [/quota|storage.?cap|storage.?full|insufficient.?(storage|capacity|space)|no space left/i, full],
  [
    /SecondLevelDomainForbidden|VirtualHostDomainRequired|PathStyle\w*(Forbidden|NotSupported|NotAllowed)|InvalidPathAccess|virtual.?host/i,
    'this server takes the bucket only in the host name; set pathStyle=false',
  ],
  [
    /must be made to API port|request.*\bconsole\b/i,
    'this is the port of the web console; set endpoint to the port of the API (MinIO: 9000)',
  ],
  [
    /UserDisable|AccountProblem|NotSignedUp|UnderDebt|Arrear|overdue|account.*(suspended|disabled|not signed up)/i,
    'the provider has suspended the account; settle that with the provider',
  ],
];

/** Whose policy denied a request, by the words of AWS. */
const deniers: readonly (readonly [RegExp, string])[] = [
  [/VPC endpoint policy/i, 'the policy of the VPC endpoint'],
  [/(service|resource) control policy/i, 'the policy of the organization'],
  [/permissions boundary/i, 'the permissions boundary of the role'],
  [/session policy/i, 'the policy of the session'],
  [/explicit deny in a resource-based policy/i, 'the policy of the bucket'],
];

function generalRemedy(code: string, said: string): string | undefined {
  const plain = said.replaceAll(/arn:\S+/g, '');
  const general = generals.find(([words]) => words.test(code) || words.test(plain))?.[1];
  const denier = deniers.find(([words]) => words.test(plain))?.[1];
  return general ?? (denier && `${denier} refuses this; change it there`);
}

/** A proxy knows nothing of buckets and permissions: its refusal is about the request itself. */
function proxyVerdict(status: number, proxy: string): Verdict {
  const answered = `HTTP ${status} from ${proxy}, and not from the store`;
  if (status === 407)
    return [ExitCode.storeRefused, `${answered}: it wants a login; put user and password into HTTPS_PROXY`];
  if (status === 413) {
    return [
      ExitCode.storeRefused,
      `${answered}: it limits the size of a request; raise the limit (nginx: client_max_body_size, ingress-nginx: proxy-body-size) to 5 GiB, or to 0`,
    ];
  }
  if (status === 408 || status === 429 || status >= 500) {
    const why = status === 429 ? 'it limits the number of requests' : 'it does not reach the store, or not in time';
    return [ExitCode.storeUnreachable, `${answered}: ${why}; try again later, or check it`];
  }
  const may =
    status === 200
      ? 'it answers with a web page; check endpoint'
      : 'allow these requests there; the credentials were not checked';
  return [ExitCode.storeRefused, `${answered}: ${may}`];
}

/** What to set when the server sends the request elsewhere: to a region, or to another address. */
function redirectRemedy(error: ServiceError, endpoint: string): string {
  const expected = /expecting '([\w-]+)'/.exec(messageOf(error))?.[1];
  const to = redirectedTo(error);
  const ofHost = [error.Endpoint, to?.hostname].flatMap((host) => (host && regionOfHost(host)) || []);
  const right = error.$response?.headers?.['x-amz-bucket-region'] ?? error.Region ?? expected ?? ofHost[0];
  if (right) {
    const isFixed = regionOfHost(URL.parse(endpoint)?.hostname ?? '') ?? /\.amazonaws\.com$/.test(endpoint);
    return `the bucket is in ${right}; set region=${right}${isFixed ? ', and remove endpoint' : ''}`;
  }
  if (to && to.origin !== endpoint) return `${endpoint} redirects to ${to.origin}; set endpoint=${to.origin}`;
  if (error.Endpoint) return `the bucket is at ${error.Endpoint}; set endpoint to that address, without the bucket`;
  if (wrongRegion.has(serverCode(error))) return 'the bucket is in another region; set region';
  return `${endpoint} redirects elsewhere and does not say where; set endpoint to the address of the store itself`;
}

/** The server's message, if it adds anything to the code. */
function serverWords(error: Error): string {
  const message = messageOf(error);
  if (message === error.name || /^Unknown|Deserialization error/.test(message)) return '';
  return `; it says: ${message.slice(0, 300)}`;
}

function networkVerdict(error: unknown, endpoint: string, proxy: string | undefined): Verdict {
  const code = (error as NodeJS.ErrnoException).code;
  // The SDK also reports a connection reset as a time-out.
  const timedOut = code === 'ETIMEDOUT' || (!code && (error as Error).name === 'TimeoutError');
  if (!code && !timedOut) return [ExitCode.unexpected, messageOf(error)];
  if (code && unknownAuthority.has(code)) {
    const remedy = 'set caFile to the PEM file of its certificate authority';
    return [ExitCode.usage, `the certificate of ${endpoint} is signed by an unknown authority (${code}); ${remedy}`];
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return [ExitCode.usage, `the certificate of ${endpoint} is for another host name; correct endpoint or pathStyle`];
  }
  if (code === 'CERT_HAS_EXPIRED')
    return [ExitCode.storeRefused, `the certificate of ${endpoint} has expired; renew it`];
  if (code && noTls.has(code)) return [ExitCode.usage, `${endpoint} does not use TLS; write http:// before it`];
  if (code?.startsWith('HPE_')) return [ExitCode.usage, `${endpoint} does not speak HTTP; correct endpoint`];
  const { hostname } = error as { readonly hostname?: string };
  if (code === 'ENOTFOUND' && hostname?.endsWith(`.${URL.parse(endpoint)?.hostname}`)) {
    const why = `${hostname}, the bucket in front of the server's name, is not known`;
    return [ExitCode.usage, `${why}; set pathStyle=true, or add that name to the DNS`];
  }
  const why = timedOut ? 'no answer in time' : networkWords(error, code);
  const [way, check] = proxy
    ? [` through the proxy ${proxy}`, 'check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, endpoint and network']
    : ['', 'check endpoint and network'];
  return [ExitCode.storeUnreachable, `cannot reach ${endpoint}${way}: ${why}; ${check}`];
}

/**
 * Message of a network error. Node tries every address of a name and wraps the failures in an error without a
 * message.
 */
function networkWords(error: unknown, code = ''): string {
  const message = messageOf((error as Partial<AggregateError>).errors?.[0] ?? error);
  return message.includes(code) ? message : `${code}: ${message}`;
}
