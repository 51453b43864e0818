import { run } from './run.mjs';

/** The programs of a minor: etcdutl came with 3.5. */
export const programsOf = (minor) => (minor === '3.4' ? ['etcd', 'etcdctl'] : ['etcd', 'etcdctl', 'etcdutl']);

export const minorOf = (version) => version.split('.').slice(0, 2).join('.');

/** The full version that one of the programs reports; undefined when it cannot be run. */
export async function versionOf(program, path) {
  const args = [program === 'etcd' ? '--version' : 'version'];
  const env = { ...process.env, ETCDCTL_API: '3' };
  const stdout = await run(path, args, { env, timeout: 30_000 }).catch(() => '');
  return stdout.match(/version: (\d+\.\d+\.\d+\S*)/i)?.[1];
}
