import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupSettings, JobFacts } from '../../../src/controllers/jobs/job-arguments.ts';
import { usageError } from '../../../src/lib/errors.ts';
import type { TlsFiles } from '../../harness/certificates.ts';
import type { FileStore } from '../store.ts';

export interface JobWorld {
  readonly store: FileStore;
  readonly dir: string;
  readonly name: string;
  readonly namespace: string;
  /** Client URL. */
  endpointOf(ordinal: number): string;
  /** Client URLs of the existing pods. */
  endpoints(): readonly string[];
  readonly tls?: TlsFiles;
  readonly peerTlsDir?: string;
  /** The reconciler has root's certificate. */
  readonly hasRoot?: boolean;
  /** Command that runs the agent. */
  readonly agent: readonly string[];
}

/** Every schedule stores in `backups`, unless `schedules.json` names another store; `secrets/<name>/` is a Secret. */
export function factsOf(world: JobWorld, scratch: string, port: number | undefined): JobFacts {
  const { dir, name, namespace, tls, peerTlsDir, hasRoot } = world;
  const store = `file://${join(dir, 'backups')}`;
  const given = join(dir, 'schedules.json');
  const schedules: Record<string, BackupSettings> = existsSync(given) ? JSON.parse(readFileSync(given, 'utf8')) : {};
  const ordinals = [0, 1, 2, 3, 4, 5, 6];
  const there = new Set(world.endpoints());
  const endpoints = ordinals.flatMap((ordinal) => {
    const url = world.endpointOf(ordinal);
    return there.has(url) ? [[ordinal, url] as const] : [];
  });
  return {
    cluster: name,
    namespace,
    endpoints: Object.fromEntries(endpoints),
    schedules: new Proxy(schedules, {
      get: (found, key) => found[String(key)] ?? { stores: [store] },
      // Each name counts as its own.
      getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true }),
    }),
    storeOf: (asked) => (asked === undefined ? store : JSON.stringify(asked)),
    backupOf: (backup) => {
      throw usageError(`EtcdBackup ${backup} does not exist: a local cluster has none`);
    },
    identityFiles: (secret) => [join(dir, 'secrets', secret)],
    ...(tls && { clientTls: { cacert: tls.ca, cert: tls.client.cert, key: tls.client.key } }),
    hasRoot,
    ...(peerTlsDir !== undefined && { peerTlsDir }),
    ...(port !== undefined && { listen: `127.0.0.1:${port}` }),
    scratch,
  };
}
