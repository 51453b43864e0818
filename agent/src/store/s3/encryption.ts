import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import type { S3Spec } from '../spec.ts';
import { endpointOf } from './endpoint.ts';

/** How the server encrypts what it stores, as the fields of its requests. */
export interface S3Encryption {
  /** Of requests that begin an object. */
  readonly create: { readonly ServerSideEncryption?: 'AES256' | 'aws:kms'; readonly SSEKMSKeyId?: string };
  /** Of every request that reads or writes an object's content or its head. */
  readonly content: { readonly SSECustomerAlgorithm?: 'AES256'; readonly SSECustomerKey?: string };
  /** Never to be printed. */
  readonly secrets: readonly string[];
}

const KEY_LENGTH = 32;

export async function readEncryption(spec: S3Spec): Promise<S3Encryption> {
  const { serverSideEncryption, kmsKeyId, sseCustomerKeyFile } = spec;
  const create = { ServerSideEncryption: serverSideEncryption, SSEKMSKeyId: kmsKeyId };
  if (!sseCustomerKeyFile) return { create, content: {}, secrets: [] };
  if (serverSideEncryption || kmsKeyId) {
    throw mistake('sseCustomerKeyFile and serverSideEncryption exclude each other; remove one');
  }
  const endpoint = endpointOf(spec);
  if (endpoint?.protocol === 'http:' && !isLoopback(endpoint.hostname)) {
    throw mistake(`sseCustomerKeyFile: the key would go to ${endpoint.host} in plain text; write https:// in endpoint`);
  }
  const key = await readKey(sseCustomerKeyFile);
  const base64 = key.toString('base64');
  const md5 = createHash('md5').update(key).digest('base64');
  return {
    create,
    content: { SSECustomerAlgorithm: 'AES256', SSECustomerKey: base64 },
    secrets: [base64, key.toString('hex'), md5],
  };
}

async function readKey(file: string): Promise<Buffer> {
  const bytes = await readFile(file).catch((error) => {
    throw mistake(`sseCustomerKeyFile ${file} cannot be read (${codeOf(error)})`);
  });
  if (bytes.length === KEY_LENGTH) return bytes;
  const text = bytes.toString('latin1').trim();
  const decoded = Buffer.from(text, 'base64');
  if (decoded.length === KEY_LENGTH && decoded.toString('base64') === text) return decoded;
  throw mistake(
    `sseCustomerKeyFile ${file} holds no key; it wants ${KEY_LENGTH} bytes, raw or in base64: openssl rand -base64 32`,
  );
}

function isLoopback(hostname: string): boolean {
  if (hostname === '[::1]' || hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}

const mistake = (message: string) => new AgentError(ExitCode.usage, `s3: ${message}`);
