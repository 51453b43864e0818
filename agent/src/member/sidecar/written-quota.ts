import { readFile } from 'node:fs/promises';
import { configFile } from '../etcd-config.ts';

/** What etcd took of its file, as far as it tells: the bytes that its backend may grow to. */
export async function quotaProblem(dataDir: string, quota: number | undefined): Promise<string | undefined> {
  const meant = await writtenQuota(dataDir);
  if (quota === undefined || meant === undefined || quota === meant) return undefined;
  return `etcd runs with a quota of ${quota} bytes, and etcd.yaml says ${meant}: it takes effect at the next restart`;
}

/** Undefined: etcd's own default. */
async function writtenQuota(dataDir: string): Promise<number | undefined> {
  const text = await readFile(configFile(dataDir), 'utf8').catch(() => '');
  const [, bytes] = /^quota-backend-bytes: (\d+)$/m.exec(text) ?? [];
  return bytes === undefined ? undefined : Number(bytes);
}
