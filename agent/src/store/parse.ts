import type * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { AgentError, ExitCode } from '../errors.ts';
import { filesystemSpec, type StoreSpec, s3Spec, storeSpec } from './spec.ts';

const mistake = (message: string) => new AgentError(ExitCode.usage, `--store: ${message}`);
const EXAMPLES = 's3://bucket/prefix?region=eu-west-1, file:///directory, or a JSON object';

/** The fields that may stand as parameters in a URL; the rest of an object has no place there. */
const s3Parameters = Object.keys(s3Spec.shape).filter((field) => field !== 'bucket' && field !== 'prefix');

const known: Record<string, readonly string[]> = {
  '': Object.keys(storeSpec.shape),
  s3: Object.keys(s3Spec.shape),
  filesystem: Object.keys(filesystemSpec.shape),
};

/** A store from `--store`: a URL, or a JSON object as in the configuration file. */
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
  if (url.username || url.password) {
    throw mistake(
      `credentials do not belong in a URL; write ${url.protocol}//${url.host}${url.pathname}?credentialsDirectory=/directory`,
    );
  }
  if (url.hash) throw mistake(`'${url.hash}' has no meaning here; write # as %23`);
  if (url.protocol === 's3:') return s3FromUrl(url);
  if (url.protocol === 'file:') return filesystemFromUrl(url);
  throw mistake(`unknown scheme '${url.protocol.slice(0, -1)}'; known: s3, file`);
}

function s3FromUrl(url: URL): unknown {
  if (!url.hostname) throw mistake('names no bucket; write s3://bucket/prefix');
  if (url.port) throw mistake(`':${url.port}' has no place after a bucket; write ?endpoint=https://host:${url.port}`);
  const prefix = decode(url.pathname).replace(/^\//, '');
  return { s3: { bucket: url.hostname, ...(prefix && { prefix }), ...parameters(url.searchParams, s3Parameters) } };
}

function filesystemFromUrl(url: URL): unknown {
  if (url.hostname)
    throw mistake(`'${url.hostname}' stands where a host would; write file:///directory with three slashes`);
  parameters(url.searchParams, []);
  return { filesystem: { path: decode(url.pathname) } };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw mistake(`'${path}' has a broken % escape; write % as %25`);
  }
}

function parameters(given: URLSearchParams, allowed: readonly string[]): Record<string, string | boolean> {
  const found: Record<string, string | boolean> = {};
  for (const [name, value] of given) {
    if (!allowed.includes(name)) throw mistake(`unknown parameter '${name}'; known: ${allowed.join(', ') || 'none'}`);
    if (name in found) throw mistake(`the parameter '${name}' is given twice`);
    found[name] = name === 'pathStyle' ? boolean(name, value) : value;
  }
  return found;
}

function boolean(name: string, value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw mistake(`${name}=${value}: write true or false`);
}

function check(value: unknown): StoreSpec {
  const result = storeSpec.safeParse(value, { error: en().localeError });
  if (result.success) return result.data;
  throw mistake(result.error.issues.map(describe).join('; '));
}

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const fields = known[path];
    return `${path ? `${path}: ` : ''}unknown field ${issue.keys.join(', ')}${fields ? `; known: ${fields.join(', ')}` : ''}`;
  }
  const message = issue.message
    .replace(/^Invalid (input|option): /, '')
    .replace(/^expected .* received undefined$/, 'is missing');
  return path ? `${path}: ${message}` : message;
}
