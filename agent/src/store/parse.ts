import { usageError } from '../lib/errors.ts';
import { describeIssue } from '../lib/input/schema-issue.ts';
import { ossSpec, type StoreSpec, s3Spec, storeSpec } from './spec.ts';

const mistake = (message: string) => usageError(message, { at: 'store' });
const EXAMPLES = 's3://bucket/prefix?region=eu-west-1, file:///directory, or a JSON object';

/** Fields that a URL may set with its parameters. All others need a JSON object. */
const s3Parameters = Object.keys(s3Spec.shape).filter((field) => field !== 'bucket' && field !== 'prefix');
const ossParameters = Object.keys(ossSpec.shape).filter((field) => field !== 'bucket' && field !== 'prefix');
const sftpParameters = ['credentialsDirectory', 'knownHostsFile', 'hostKey', 'legacyAlgorithms'];
const commandParameters = ['credentialsDirectory', 'idleTimeout'];

const BOOLEANS = new Set(['pathStyle', 'legacyAlgorithms']);

/** Parses the name of a store: a URL, or a JSON object in the form of the configuration file. */
export function parseStore(text: string): StoreSpec {
  return check(text.trimStart().startsWith('{') ? parseJson(text) : parseUrl(text));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw mistake(`this is not valid JSON; write ${EXAMPLES}`);
  }
}

function parseUrl(text: string): unknown {
  const url = URL.parse(text);
  if (!url) throw mistake(`this is not a URL; write ${EXAMPLES}`);
  if (url.password || (url.username && url.protocol !== 'sftp:')) {
    throw mistake(
      `credentials do not belong in a URL; write ${url.protocol}//${url.host}${url.pathname}?credentialsDirectory=/directory`,
    );
  }
  if (url.hash) throw mistake(`the fragment '${url.hash}' is not allowed; write # as %23`);
  if (url.protocol === 's3:') return { s3: bucketFromUrl(url, s3Parameters) };
  if (url.protocol === 'oss:') return { oss: bucketFromUrl(url, ossParameters) };
  if (url.protocol === 'sftp:') return { sftp: sftpFromUrl(url) };
  if (url.protocol === 'file:') return { filesystem: pathFromUrl(url, []) };
  if (url.protocol === 'exec:') return { command: pathFromUrl(url, commandParameters) };
  throw mistake(`unknown scheme '${url.protocol.slice(0, -1)}'; known: s3, oss, sftp, file, exec`);
}

function bucketFromUrl(url: URL, allowed: readonly string[]): unknown {
  if (!url.hostname) throw mistake(`the bucket is missing; write ${url.protocol}//bucket/prefix`);
  if (url.port)
    throw mistake(`the port ':${url.port}' is not allowed after a bucket; write ?endpoint=https://host:${url.port}`);
  const prefix = decode(url.pathname).replace(/^\//, '');
  return { bucket: url.hostname, ...(prefix && { prefix }), ...parameters(url.searchParams, allowed) };
}

function sftpFromUrl(url: URL): unknown {
  if (!url.hostname) throw mistake('the host is missing; write sftp://user@host/directory');
  // Same convention as curl: /~/ is the login directory.
  const path = decode(url.pathname).replace(/^\/~(\/|$)/, '');
  const { hostKey, ...others } = parameters(url.searchParams, sftpParameters);
  return {
    host: decode(url.hostname.replace(/^\[|\]$/g, '')),
    ...(url.port && { port: Number(url.port) }),
    ...(url.username && { username: decode(url.username) }),
    ...(path && { path }),
    ...(hostKey !== undefined && { hostKey: fingerprintFrom(String(hostKey)) }),
    ...others,
  };
}

/** Restores the plus signs of a fingerprint: in a URL's query a plus sign means a space. */
const fingerprintFrom = (text: string) => (text.startsWith('SHA256:') ? text.replaceAll(' ', '+') : text);

function pathFromUrl(url: URL, allowed: readonly string[]): unknown {
  if (url.hostname) {
    const remedy = `write ${url.protocol}///directory with three slashes`;
    throw mistake(`'${url.hostname}' is in the place of a host; ${remedy}`);
  }
  return { path: decode(url.pathname), ...parameters(url.searchParams, allowed) };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw mistake(`'${path}' has an invalid % escape; write % as %25`);
  }
}

function parameters(given: URLSearchParams, allowed: readonly string[]): Record<string, string | boolean> {
  const found: Record<string, string | boolean> = {};
  for (const [name, value] of given) {
    if (!allowed.includes(name)) throw mistake(`unknown parameter '${name}'; known: ${allowed.join(', ') || 'none'}`);
    if (name in found) throw mistake(`the parameter '${name}' is given twice`);
    found[name] = BOOLEANS.has(name) ? boolean(name, value) : value;
  }
  return found;
}

function boolean(name: string, value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw mistake(`${name}=${value}: write true or false`);
}

function check(value: unknown): StoreSpec {
  const result = storeSpec.safeParse(value);
  if (!result.success) throw mistake(describeIssue(result.error));
  // Only an escape in JSON can write half of a surrogate pair, which fits into neither a URL nor UTF-8.
  if (/\\ud[89a-f]/.test(JSON.stringify(result.data).replaceAll('\\\\', ''))) {
    throw mistake('a text has half of a \\u surrogate pair; write the whole character');
  }
  return result.data;
}
