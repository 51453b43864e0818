import { execFileSync } from 'node:child_process';
import { Versitygw } from '../agent/test/harness/versitygw.ts';
import type { Options } from './options.mts';

/** A local S3 server with one bucket, and the settings with which each tool reaches it. */
export interface S3Server extends AsyncDisposable {
  readonly name: string;
  readonly bucket: string;
  /** The agent's `--store`. */
  readonly store: string;
  readonly s3cmd: readonly string[];
  readonly rclone: readonly string[];
  /** Removes all objects. */
  empty(): void;
}

type Running = Pick<Versitygw, 'endpoint' | 'accessKeyId' | 'secretAccessKey' | 'region' | 'credentialsDirectory'> &
  AsyncDisposable;

async function start(name: Options['server']): Promise<Running> {
  if (name === 'versitygw') return Versitygw.start();
  const { Radosgw } = await import('../agent/test/harness/radosgw.ts');
  return Radosgw.start();
}

export async function startS3(name: Options['server']): Promise<S3Server> {
  const server = await start(name);
  const { endpoint, accessKeyId, secretAccessKey, region, credentialsDirectory } = server;
  const { host } = new URL(endpoint);
  const bucket = 'bench';
  const s3cmd = [
    ...['s3cmd', '--config=/dev/null', '--no-ssl', `--host=${host}`, `--host-bucket=${host}`, '--no-progress'],
    ...[`--region=${region}`, `--access_key=${accessKeyId}`, `--secret_key=${secretAccessKey}`],
  ];
  const rclone = [
    // versitygw does not answer Expect: 100-continue, and rclone would wait a second for it with each part.
    ...[
      'rclone',
      '--config=',
      '--expect-continue-timeout=0',
      '--s3-provider=Other',
      `--s3-endpoint=${endpoint}`,
      `--s3-region=${region}`,
    ],
    ...['--s3-no-check-bucket', `--s3-access-key-id=${accessKeyId}`, `--s3-secret-access-key=${secretAccessKey}`],
  ];
  const run = (...args: string[]) => execFileSync('s3cmd', [...s3cmd.slice(1), ...args], { stdio: 'ignore' });
  run('mb', `s3://${bucket}`);
  return {
    name,
    bucket,
    store: `s3://${bucket}?${new URLSearchParams({ endpoint, credentialsDirectory })}`,
    s3cmd,
    rclone,
    empty: () => run('del', '--recursive', '--force', `s3://${bucket}`),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
