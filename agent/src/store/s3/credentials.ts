import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromIni } from '@aws-sdk/credential-provider-ini';
import { getProfileName, loadSharedConfigFiles } from '@smithy/core/config';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';

interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** The file names under which people keep a key pair in a Secret; the first whole pair is taken. */
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
  'give AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or accessKeyID and accessKeySecret (or secretAccessKey), ' +
  "or MINIO_ACCESS_KEY and MINIO_SECRET_KEY, or AWS's shared file credentials";

/** The SDK asks again when less than five minutes are left: so before every request, and sees a rotated Secret. */
const LIFETIME = 240_000;

const mistake = (directory: string, why: string) =>
  new AgentError(ExitCode.usage, `credentialsDirectory ${directory}: ${why}`);

/** Credentials from a Secret's files, read anew at every call. */
export async function readCredentials(directory: string, profile?: string): Promise<S3Credentials> {
  const names = await namesIn(directory);
  const pair = pairs.find(({ id, secret }) => names.includes(id) && names.includes(secret));
  const found = pair ? await readPair(directory, names, pair) : await readShared(directory, names, profile);
  return { ...found, expiration: found.expiration ?? new Date(Date.now() + LIFETIME) };
}

/** The region of the profile in the directory's shared files. */
export async function readRegion(directory: string, profile?: string): Promise<string | undefined> {
  const { configFile, credentialsFile } = await loadSharedConfigFiles(sharedFiles(directory));
  const name = getProfileName({ profile });
  return configFile[name]?.region ?? credentialsFile[name]?.region;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    // A mounted Secret has its data under ..data, and links to them.
    return (await readdir(directory)).filter((name) => !name.startsWith('.')).sort();
  } catch (error) {
    throw mistake(directory, `cannot be read (${codeOf(error)}); mount the Secret there`);
  }
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
    throw mistake(directory, `${name} cannot be read (${codeOf(error)})`);
  });
  const value = text.trim();
  if (value === '') throw mistake(directory, `${name} is empty`);
  if (/\s/.test(value)) throw mistake(directory, `${name} holds more than one word; it must hold the value alone`);
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
    throw mistake(directory, `has no profile '${name}'; its shared files have: ${profiles.join(', ') || 'none'}`);
  }
  try {
    return await fromIni({ ...files, profile: name })();
  } catch {
    // The SDK's message may quote the file.
    throw mistake(
      directory,
      `the profile '${name}' gives no credentials; it wants aws_access_key_id and aws_secret_access_key`,
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
