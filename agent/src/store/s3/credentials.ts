import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromIni } from '@aws-sdk/credential-provider-ini';
import { getProfileName, loadSharedConfigFiles } from '@smithy/core/config';
import { usageError } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';
import { secretFiles } from '../secrets.ts';

interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** Common file names of a key pair in a Secret. The first complete pair is used. */
const pairs = [
  { id: 'AWS_ACCESS_KEY_ID', secret: 'AWS_SECRET_ACCESS_KEY', token: 'AWS_SESSION_TOKEN' },
  { id: 'aws_access_key_id', secret: 'aws_secret_access_key', token: 'aws_session_token' },
  { id: 'accessKeyID', secret: 'accessKeySecret', token: 'sessionToken' },
  { id: 'accessKeyID', secret: 'secretAccessKey', token: 'sessionToken' },
  { id: 'accessKeyId', secret: 'accessKeySecret', token: 'sessionToken' },
  { id: 'accessKeyId', secret: 'secretAccessKey', token: 'sessionToken' },
  { id: 'MINIO_ACCESS_KEY', secret: 'MINIO_SECRET_KEY', token: 'MINIO_SESSION_TOKEN' },
] as const;
type Pair = (typeof pairs)[number];

const SHARED = ['credentials', 'config'] as const;

const WANTED =
  'add AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or accessKeyID and accessKeySecret (or secretAccessKey), ' +
  'or MINIO_ACCESS_KEY and MINIO_SECRET_KEY, or the AWS shared file credentials';

/**
 * Milliseconds. The SDK asks again when less than five minutes are left. With this shorter lifetime it asks before
 * every request and so notices a rotated Secret.
 */
const LIFETIME = 240_000;

const mistake = (directory: string, why: string) => usageError(`credentialsDirectory ${directory}: ${why}`);

/** Reads credentials from a Secret's files, again at every call. */
export async function readCredentials(directory: string, profile?: string): Promise<S3Credentials> {
  const names = await secretFiles(directory);
  const pair = pairs.find(({ id, secret }) => names.includes(id) && names.includes(secret));
  const found = pair ? await readPair(directory, names, pair) : await readShared(directory, names, profile);
  return { ...found, expiration: found.expiration ?? new Date(Date.now() + LIFETIME) };
}

/** Reads the region of the profile from the shared files in the directory. */
export async function readRegion(directory: string, profile?: string): Promise<string | undefined> {
  const { configFile, credentialsFile } = await loadSharedConfigFiles(sharedFiles(directory));
  const name = getProfileName({ profile });
  return configFile[name]?.region ?? credentialsFile[name]?.region;
}

async function readPair(directory: string, names: string[], pair: Pair): Promise<S3Credentials> {
  const [accessKeyId, secretAccessKey, sessionToken] = await Promise.all([
    readValue(directory, pair.id),
    readValue(directory, pair.secret),
    names.includes(pair.token) ? readValue(directory, pair.token) : undefined,
  ]);
  return { accessKeyId, secretAccessKey, sessionToken };
}

async function readValue(directory: string, name: string): Promise<string> {
  const text = await readFile(join(directory, name), 'utf8').catch((error) => {
    throw mistake(directory, `${name} cannot be read ${readFault(error)}`);
  });
  const value = text.trim();
  if (value === '') throw mistake(directory, `${name} is empty`);
  if (/\s/.test(value)) throw mistake(directory, `${name} contains more than one word; it must contain only the value`);
  return value;
}

async function readShared(directory: string, names: string[], profile?: string): Promise<S3Credentials> {
  if (!SHARED.some((name) => names.includes(name))) {
    const found = names.length === 0 ? 'is empty' : `has no complete key pair, only ${names.join(', ')}`;
    throw mistake(directory, `${found}; ${WANTED}`);
  }
  const files = sharedFiles(directory);
  const { configFile, credentialsFile } = await loadSharedConfigFiles(files);
  const profiles = [...new Set([...Object.keys(credentialsFile), ...Object.keys(configFile)])];
  const name = getProfileName({ profile });
  if (!profiles.includes(name)) {
    // A broken file may have anything for a name, also a key.
    const named = profiles.filter((each) => /^[a-z][\w.-]{0,15}$/i.test(each));
    throw mistake(directory, `has no profile '${name}'; its shared files have: ${named.join(', ') || 'none'}`);
  }
  try {
    return await fromIni({ ...files, profile: name })();
  } catch {
    // The SDK's message is not printed, because it may quote the file.
    throw mistake(
      directory,
      `the profile '${name}' has no credentials; it needs aws_access_key_id and aws_secret_access_key`,
    );
  }
}

function sharedFiles(directory: string) {
  return {
    filepath: join(directory, 'credentials'),
    configFilepath: join(directory, 'config'),
    ignoreCache: true,
  };
}
