import { spawnSync } from 'node:child_process';

const inside = 'CDK8S_ETCD_OWN_NETWORK';
const ownNetwork = ['unshare', '--map-root-user', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

/**
 * Runs this program again in a separate network namespace, because the ports of the pods may be in use. Where that is
 * impossible, or for an API server on another machine, it continues here.
 */
export function moveToOwnNetwork(): void {
  if (process.env.KUBECONFIG || process.env[inside]) return;
  const run = (command: readonly string[]) => {
    const [program = '', ...args] = [...ownNetwork, ...command];
    return spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, [inside]: '1' } }).status;
  };
  if (run(['true']) !== 0) return;
  process.exit(run([process.execPath, ...process.execArgv, ...process.argv.slice(1)]) ?? 1);
}
