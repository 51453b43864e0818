import { randomBytes } from 'node:crypto';
import type { Manifest } from '../../synth';
import { container, podSpec } from './manifests';
import type { Namespace } from './namespace';

/** Runs a pod until it ends, and returns its output. Throws if it fails. */
export async function runPod(namespace: Namespace, name: string, spec: Manifest): Promise<string> {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { restartPolicy: 'Never', ...spec } };
  await namespace.apply([pod]);
  const phase = await namespace.until(`the end of pod ${name}`, 120, async () => {
    const { status } = await namespace.get('pod', name);
    return ['Succeeded', 'Failed'].includes(status.phase) ? status.phase : undefined;
  });
  const { stdout } = await namespace.kubectl(['logs', name]);
  if (phase !== 'Succeeded') throw new Error(`pod ${name} failed: ${stdout}`);
  return stdout;
}

/** Every file of a volume, unfinished ones too. */
export async function filesOfClaim(namespace: Namespace, claimName: string): Promise<string[]> {
  const find = container('find', 'docker.io/library/busybox:1.35', {
    command: ['find', '.', '-type', 'f'],
    workingDir: '/volume',
    volumeMounts: [{ name: 'volume', mountPath: '/volume' }],
  });
  const volumes = [{ name: 'volume', persistentVolumeClaim: { claimName } }];
  const output = await runPod(namespace, `files-of-${claimName}`, podSpec({ containers: [find], volumes }));
  return output
    .split('\n')
    .filter(Boolean)
    .map((path) => path.slice('./'.length));
}

/** Returns the addresses to which a name resolves in a pod of the namespace. Empty if the name does not exist. */
export async function addressesOf(namespace: Namespace, name: string): Promise<string[]> {
  const domain = `${name}.${namespace.name}.svc.cluster.local`;
  const ask = container('ask', 'docker.io/library/busybox:1.35', {
    command: ['sh', '-c', `nslookup -type=a ${domain}. || true`],
  });
  const output = await runPod(namespace, `ask-${randomBytes(4).toString('hex')}`, podSpec({ containers: [ask] }));
  const [, answer = ''] = output.split(/^Name:.*$/m);
  return [...answer.matchAll(/^Address:\s*(\S+)$/gm)].map(([, address]) => address!);
}
