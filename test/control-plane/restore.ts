import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../guides';
import { onNode } from './nodes';
import { Procedure } from './plan';

/** How the guide runs the agent on a node, before there is a plan. */
function guideFunction(): string {
  const guide = readFileSync(join(root, 'docs/control-plane/restore.md'), 'utf8');
  const [block] = /^etcd-agent\(\) \(.*?^\)$/ms.exec(guide) ?? [];
  if (!block) throw new Error('docs/control-plane/restore.md: it does not say how to run the agent');
  return block;
}

/** The plan as a node prints it, with the flags that its etcd-restore.yaml has. */
export async function printPlan(node: string, restorePod: string, ...more: readonly string[]): Promise<Procedure> {
  const { args } = parse(restorePod).spec.containers[0];
  const flags = args.filter((arg: string) => /^--(cluster|store|age-identity-file)=/.test(arg));
  const typed = [...flags, ...more].map((flag: string) => `'${flag}'`).join(' ');
  const { stdout } = await onNode(node, guideFunction(), `etcd-agent restore control-plane --plan ${typed}`);
  return new Procedure(stdout);
}

const pod = '/etc/kubernetes/manifests/etcd-restore.yaml';
const logs = '/var/log/pods/kube-system_etcd-restore-*/restore/*.log';

/** Lets the kubelet of a node run etcd-restore.yaml, as the guide says, until that has restored. */
export async function copyStaticPod(node: string, id: string, ...more: readonly string[]): Promise<void> {
  await onNode(
    node,
    ...[`snapshot: ${id}`, ...more].map(
      (line, at) => `echo '${line}' ${at === 0 ? '>' : '>>'} /etc/etcd-restore/restore.yaml`,
    ),
    `cp /etc/etcd-restore/etcd-restore.yaml ${pod}`,
    `until grep -qs '"id":"${id}".*"state":"done"' ${logs}; do`,
    `  sleep 0.3; [ $SECONDS -lt 240 ] || { tail -n 30 ${logs} >&2; exit 1; }`,
    'done',
  );
}

export async function removeStaticPod(node: string): Promise<void> {
  await onNode(node, `rm ${pod}`);
}
