import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { usageError } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';
import type { S3Spec } from '../spec.ts';
import { endpointOf } from './endpoint.ts';

/** Fields of requests that make the server encrypt objects. */
export interface S3Encryption {
  /** Fields of requests that create an object. */
  readonly create: { readonly ServerSideEncryption?: 'AES256' | 'aws:kms'; readonly SSEKMSKeyId?: string };
  /** Fields of every request that reads or writes an object's content or its head. */
  readonly content: { readonly SSECustomerAlgorithm?: 'AES256'; readonly SSECustomerKey?: string };
  /** Texts that must not be printed. */
  readonly secrets: readonly string[];
}

const KEY_LENGTH = 32;

export async function readEncryption(spec: S3Spec): Promise<S3Encryption> {
  const { serverSideEncryption, kmsKeyId, sseCustomerKeyFile } = spec;
  const create = { ServerSideEncryption: serverSideEncryption, SSEKMSKeyId: kmsKeyId };
  if (!sseCustomerKeyFile) return { create, content: {}, secrets: [] };
  if (serverSideEncryption || kmsKeyId) {
    throw mistake('sseCustomerKeyFile and serverSideEncryption cannot be used together; remove one');
  }
  const endpoint = endpointOf(spec);
  if (endpoint?.protocol === 'http:' && !isLoopback(endpoint.hostname)) {
    throw mistake(
      `sseCustomerKeyFile: the key would be sent to ${endpoint.host} in plain text; write https:// in endpoint`,
    );
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
    throw mistake(`sseCustomerKeyFile ${file} cannot be read ${readFault(error)}`);
  });
  if (bytes.length === KEY_LENGTH) return bytes;
  const text = bytes.toString('latin1').trim();
  const decoded = Buffer.from(text, 'base64');
  if (decoded.length === KEY_LENGTH && decoded.toString('base64') === text) return decoded;
  throw mistake(
    `sseCustomerKeyFile ${file} is not a key; it must contain ${KEY_LENGTH} bytes, raw or in base64: openssl rand -base64 32`,
  );
}

function isLoopback(hostname: string): boolean {
  if (hostname === '[::1]' || hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}

const mistake = (message: string) => usageError(`s3: ${message}`);
