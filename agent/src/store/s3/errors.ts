import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { hideSecrets } from '../secrets.ts';

/** Error of the SDK: an answer of the server, or a failure on the way. */
interface ServiceError extends Error {
  readonly Region?: string;
  /** The only address by which the bucket can be reached. */
  readonly Endpoint?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Record<string, string> };
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

/** Why there are no credentials. Nothing was asked of the store yet. */
export class CredentialsFault extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    this.name = 'CredentialsFault';
  }
}

type Verdict = readonly [exitCode: ExitCode, message: string];

const checkKeys = 'check the access key and its secret key';
const unknownKey = `the server does not know the access key; ${checkKeys}`;
const skewed = "the server's clock and the agent's clock differ too much; set the clock";
const hostStyle = 'the server takes the bucket in the host name only; set pathStyle=false';
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
  RequestTimeTooSkewed: skewed,
  RequestExpired: skewed,
  SecondLevelDomainForbidden: hostStyle,
  XAdminUserNotFound: unknownKey,
  NotImplemented: 'the server does not support this; use another server',
};
/** Errors that the server's code or message identifies in some words of its own: the code may be misleading or missing. */
const refusalsByWords: readonly [RegExp, string][] = [
  [/quota|storage.?(cap|full)|(insufficient|out of|no) (storage|disk) ?space|NoSpace/i, full],
  [/virtual.?host/i, hostStyle],
  [/path.?style.*((not|un)[ -]?(supported|allowed)|forbidden)|InvalidPathAccess/i, hostStyle],
  [/made to (the )?API port/i, 'this is the port of the web console; set endpoint to that of the API (MinIO: 9000)'],
  [
    /UserDisable|AccountProblem|NotSignedUp|UnderDebt|Arrear|account.*(suspended|disabled|not signed up)/i,
    'the provider has suspended the account; settle that with the provider',
  ],
  [/VPC endpoint policy/i, 'the policy of the VPC endpoint refuses this; change it there'],
  [/(service|resource) control policy/i, 'the policy of the organization refuses this; change it there'],
  [/permissions boundary/i, 'the permissions boundary of the role refuses this; change it there'],
  [/explicit deny in a resource-based policy/i, 'the policy of the bucket refuses this; change it there'],
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

/** Returns the server's error code. An answer to HEAD has no body, so there the code is derived from the status. */
export function serverCode(error: unknown): string {
  const { name } = error as Error;
  const isCode = /^[A-Z]\w+$/.test(name) && !/^(Error|Unknown(Error)?)$/.test(name);
  if (isCode) return name;
  const byStatus: Record<number, string> = { 403: 'AccessDenied', 404: 'NotFound', 503: 'ServiceUnavailable' };
  return byStatus[statusOf(error) ?? 0] ?? 'an error without a code';
}

/** True if fresh credentials may help: the ones in use may have been rotated. */
export function isAuthFailure(error: unknown): boolean {
  const status = statusOf(error);
  const codes = ['ExpiredToken', 'InvalidToken', 'XAdminUserNotFound'];
  return status === 401 || status === 403 || codes.includes(serverCode(error));
}

/** True if the server knows nothing of the access key. It may have been made just now. */
export const isUnknownKey = (error: unknown): boolean => refusals[serverCode(error)] === unknownKey;

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
  if (error instanceof CredentialsFault) return credentialsVerdict(error.cause as Error);
  if (/region is missing/i.test(messageOf(error))) return [ExitCode.usage, 'no region; set region, or AWS_REGION'];
  if (statusOf(error) !== undefined) return serverVerdict(error as ServiceError);
  return networkVerdict(error, endpoint, proxy);
}

function serverVerdict(error: ServiceError): Verdict {
  const status = statusOf(error)!;
  if (isPage(error)) return pageVerdict(error, status);
  const code = serverCode(error);
  const answer = `${code} (${status})`;
  const moved = movedTo(error, status);
  if (moved) return [ExitCode.storeRefused, `${answer}: ${moved}`];
  if (wrongRegion.has(code) || (status >= 300 && status < 400)) {
    return [ExitCode.storeRefused, `${answer}: ${regionRemedy(error)}`];
  }
  const said = serverWords(error);
  const words = status < 500 && status !== 429 ? wordsRemedy(`${error.name} ${said}`) : undefined;
  const remedy = words ?? refusalRemedy(code, status);
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

function wordsRemedy(said: string): string | undefined {
  // Remove ARNs: the names of users and buckets in them may contain the same words.
  const plain = said.replaceAll(/arn:\S+/g, '');
  return refusalsByWords.find(([words]) => words.test(plain))?.[1];
}

const headerOf = (error: ServiceError, name: string): string => error.$response?.headers?.[name] ?? '';

/** Statuses that only something before a store sends. */
const OF_PROXY = new Set([407, 411, 413, 414, 431, 502, 504, 520, 521, 522, 523, 524, 525, 526, 530]);
const PROXIES = /nginx|openresty|envoy|istio|haproxy|traefik|caddy|squid|varnish|apache|cloudflare|akamai|awselb/i;

const isHtml = (error: ServiceError): boolean => /^text\/html/i.test(headerOf(error, 'content-type'));

/** A web server, a proxy or a console answers instead of S3, which answers in XML. */
const isPage = (error: ServiceError): boolean =>
  isHtml(error) || (OF_PROXY.has(statusOf(error) ?? 0) && PROXIES.test(headerOf(error, 'server')));

function pageVerdict(error: ServiceError, status: number): Verdict {
  const server = headerOf(error, 'server');
  const answer = `${isHtml(error) ? 'a web page' : 'an answer'}${server ? ` of ${server.slice(0, 60)}` : ''} instead of an answer of S3 (${status})`;
  const moved = movedTo(error, status);
  if (moved) return [ExitCode.storeRefused, `${answer}: ${moved}`];
  if (status === 413)
    return [
      ExitCode.storeRefused,
      `${answer}: a proxy refuses requests of this size; raise its limit (nginx: client_max_body_size)`,
    ];
  if (status === 407)
    return [ExitCode.storeRefused, `${answer}: the proxy asks for a login; put it into the proxy's URL`];
  if (status >= 500 || status === 429 || status === 408)
    return [ExitCode.storeUnreachable, `${answer}: the server, or a proxy before it, failed; try again later`];
  if (status >= 400)
    return [ExitCode.storeRefused, `${answer}: a proxy or firewall before the store refused; let the request pass it`];
  return [ExitCode.storeRefused, `${answer}: the endpoint is not that of an S3 API, but perhaps of its console`];
}

/** Where the server sends the client. The region of a bucket of AWS says more. */
function movedTo(error: ServiceError, status: number): string | undefined {
  const { Endpoint: only } = error;
  const isAws = (text: string) => headerOf(error, 'x-amz-bucket-region') !== '' || /\.amazonaws\.com/.test(text);
  if (typeof only === 'string' && /^[\w.:-]+$/.test(only) && !isAws(only))
    return `the bucket is reached by ${only} alone; set endpoint to it`;
  const location = URL.parse(headerOf(error, 'location'));
  if (status < 300 || status > 399 || !location || isAws(location.host)) return undefined;
  return `the server redirects to ${location.origin}; set endpoint=${location.origin}`;
}

/** `cause`: of the SDK, which asked the environment, files, STS or the machine. */
function credentialsVerdict(cause: Error): Verdict {
  const status = statusOf(cause);
  // The error of a directory or a disk that fails has no path.
  const {
    code,
    path = ['EISDIR', 'EIO'].includes(code ?? '') ? 'the file in AWS_WEB_IDENTITY_TOKEN_FILE' : undefined,
  } = cause as NodeJS.ErrnoException;
  if (path !== undefined)
    return [
      ExitCode.usage,
      `no credentials: ${path} cannot be read (${code}); mount the token of the ServiceAccount there`,
    ];
  if (status !== undefined) {
    const answer = `no credentials: STS answers ${serverCode(cause)} (${status})`;
    if (status >= 500 || status === 429) return [ExitCode.storeUnreachable, `${answer}; try again later`];
    const remedy = 'check the trust policy of the role, and AWS_ROLE_ARN';
    return [ExitCode.storeRefused, `${answer}; ${remedy}${serverWords(cause)}`];
  }
  if (code !== undefined && cause.name !== 'CredentialsProviderError')
    return [
      ExitCode.storeUnreachable,
      `no credentials: cannot reach STS: ${networkWords(cause, code)}; check the network, and AWS_ENDPOINT_URL_STS`,
    ];
  const remedy = 'set credentialsDirectory, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the pod a role';
  return [ExitCode.usage, `no credentials found; ${remedy}`];
}

function regionRemedy(error: ServiceError): string {
  const expected = /expecting '([\w-]+)'/.exec(messageOf(error))?.[1];
  const ofHost = [error.Endpoint, URL.parse(headerOf(error, 'location'))?.hostname].map(regionOfHost).find(Boolean);
  const right = error.$response?.headers?.['x-amz-bucket-region'] ?? error.Region ?? expected ?? ofHost;
  if (right) return `the bucket is in ${right}; set region=${right}`;
  if (wrongRegion.has(serverCode(error))) return 'the bucket is in another region; set region';
  return 'the server redirects, and does not say where; set endpoint to the address of the store itself';
}

/** The region in a host name of AWS, such as `bucket.s3.eu-west-1.amazonaws.com`. */
const regionOfHost = (host = ''): string | undefined =>
  /(?:^|\.)s3[.-](?:dualstack\.)?([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(?:\.cn)?$/.exec(host)?.[1];

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
    const why = `the name ${hostname}, with the bucket before that of the server, is not known`;
    return [ExitCode.usage, `${why}; set pathStyle=true, or add it to the DNS`];
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
