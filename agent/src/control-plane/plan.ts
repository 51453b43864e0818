import { dirname } from 'node:path';
import { hostOf } from './local-address.ts';
import type { EtcdNode } from './node.ts';
import { startCommand, stopCommand } from './restore.ts';
import type { SnapshotMember } from './snapshot-members.ts';

export interface PlanRequest {
  readonly id: string;
  readonly createdAt: string;
  readonly revision: number;
  readonly sourceClusterId: string;
  readonly members: readonly SnapshotMember[];
  readonly token: string;
  readonly bump: number;
  readonly initialCluster: string;
  /** Hosts of members that the restored cluster will not have. */
  readonly leftOut: readonly string[];
  readonly node: EtcdNode;
  readonly manifestsDir: string;
  readonly journalDir: string;
  /** Flags that the command needs again, on every node. */
  readonly flags: readonly string[];
  /** Files and folders that these flags name. */
  readonly files: readonly string[];
  /** The store's own folder, when it is one of this machine. */
  readonly storeFolder?: string;
  readonly image?: string;
}

/** One numbered step: commands for a shell on the node. */
export interface PlanStep {
  /** A member's name; undefined: it goes for every node. */
  readonly node?: string;
  readonly why: string;
  readonly commands: readonly string[];
}

export function planSteps(plan: PlanRequest): PlanStep[] {
  const { members, node } = plan;
  const several = members.length > 1;
  const outside = node.kind !== 'static-pod';
  const on = (why: string, commands: readonly string[]): PlanStep[] =>
    members.map(({ name, peerUrls }) => ({
      node: name,
      why: `On ${name} (${hostOf(peerUrls[0]!)}): ${why}`,
      commands,
    }));
  const restore = `etcd-agent restore control-plane ${plan.id} ${plan.flags.join(' ')}`.trimEnd();
  const byHand = (what: string, command: string) =>
    outside ? `; when it says so, in another terminal: ${what} etcd (\`${command}\`)` : '';
  const stopping = byHand('stop', stopCommand(node.kind));
  const starting = byHand('start', startCommand(node.kind));
  return [
    ...plan.leftOut.map((host) => ({
      why: `On ${host}, which is no member of the restored cluster: API server and etcd out, for good. It joins anew when all is done (kubeadm reset, kubeadm join)`,
      commands: [
        `mkdir ${plan.journalDir}/etcd-left-out`,
        `mv ${plan.manifestsDir}/kube-apiserver.yaml ${plan.manifestsDir}/etcd.yaml ${plan.journalDir}/etcd-left-out/`,
      ],
    })),
    {
      why: 'On every node, in the shell that the next steps are typed in: what etcd-agent is',
      commands: [`mkdir -p /var/log/pods; mkdir -p -m 0700 ${node.member.dataDir}`, agentFunction(plan)],
    },
    ...(several
      ? on(
          `fetch and verify the snapshot, then API server and etcd out. Do this on all nodes before you go on${stopping}`,
          [`${restore} --stop`],
        )
      : []),
    ...on(
      several
        ? `restore, and start again. Begin it on every node without waiting for its end: they wait for each other${starting}`
        : `fetch and verify the snapshot, API server and etcd out, restore, start again${stopping}${starting}`,
      [restore],
    ),
    ...on('the kubelet, which keeps what it has read', ['systemctl restart kubelet']),
    ...on('look at the result', [`etcd-agent restore control-plane --verify ${localFlags(plan).join(' ')}`.trimEnd()]),
  ];
}

export function planText(plan: PlanRequest): string {
  const { node } = plan;
  const steps = planSteps(plan).map(({ why, commands }, at) =>
    [`${at + 1}. ${why}`, ...commands.map((command) => `     ${command}`)].join('\n'),
  );
  return [
    `Restore of ${plan.id}: taken ${plan.createdAt}, revision ${plan.revision}, cluster ${plan.sourceClusterId}. It was fetched and verified just now; nothing was changed.`,
    `This node: ${node.member.name}, etcd ${node.version ?? 'of an unknown version'}${node.image ? ` (${node.image})` : ''}, read from ${node.source}; data in ${node.member.dataDir}, manifests in ${plan.manifestsDir}.`,
    `The new cluster: --initial-cluster=${plan.initialCluster} --initial-cluster-token=${plan.token} --bump-revision=${plan.bump}`,
    '',
    ...steps,
    '',
    'A step that was interrupted is done again, with the same command. Until the new member has served, this goes back to the old data and manifests, on each node:',
    `     etcd-agent restore control-plane --undo ${localFlags(plan).join(' ')}`.trimEnd(),
    ...(node.kind === 'static-pod' ? [staticPodWay(plan)] : []),
    `Old data stay in ${node.member.dataDir}/member.replaced-…, manifests and journal in ${plan.journalDir}/etcd-restore-….`,
  ].join('\n');
}

const staticPodWay = ({ id, manifestsDir }: PlanRequest): string =>
  `Instead of \`etcd-agent restore control-plane …\` the static Pod does the same, on every node at once: write \`snapshot: ${id}\` into /etc/etcd-restore/restore.yaml, copy etcd-restore.yaml into ${manifestsDir}, and remove it there when its log says that it is done.`;

/** Those that name places of this node. */
const localFlags = ({ flags }: PlanRequest): string[] =>
  flags.filter((flag) => /^--(manifests-dir|journal-dir|data-dir|etcd-)/.test(flag));

/**
 * The image that is on the node, run by containerd without a registry; all of the host that it sees is named. It runs as root
 * by `tasks exec`, as `ctr run` of containerd 1.6 cannot; a name is never used twice, as that of a killed one would be taken.
 */
function agentFunction({ image, node, manifestsDir, journalDir, files, storeFolder }: PlanRequest): string {
  const name = image ?? `"$(ctr -n k8s.io images ls -q | grep -m1 'etcd[-/]agent')"`;
  const folders = [dirname(manifestsDir), journalDir, node.member.dataDir];
  const writable = storeFolder === undefined ? folders : [...folders, storeFolder];
  const tls = [node.member.clientTls, node.member.peerTls].flatMap(({ cert }) => (cert ? [dirname(cert)] : []));
  const readable = [...tls, ...files, '/var/log/pods'].filter((path) => !isBelow(path, writable));
  const mount = (path: string, mode: string) => `--mount type=bind,src=${path},dst=${path},options=rbind:${mode}`;
  const mounts = [
    ...withoutNested(writable).map((path) => mount(path, 'rw')),
    ...withoutNested(readable).map((path) => mount(path, 'ro')),
  ];
  const lines = [
    'local name="etcd-restore-$(date +%s)-$$" code=0',
    `ctr -n k8s.io run -d --null-io --net-host --with-ns pid:/proc/1/ns/pid ${mounts.join(' ')} ${name} "$name" ${AGENT} keep-image`,
    // What is typed ahead is not for it to read.
    `ctr -n k8s.io tasks exec --user 0:0 --exec-id agent "$name" ${AGENT} "$@" </dev/null || code=$?`,
    'ctr -n k8s.io tasks rm --force "$name" >/dev/null 2>&1 || :',
    'ctr -n k8s.io containers rm "$name"',
    'return $code',
  ];
  return `etcd-agent() { ${lines.join('; ')}; }`;
}

/** As in the image: `ctr` does not look there when it is given arguments. */
const AGENT = '/usr/local/bin/node --expose-gc /opt/etcd-agent/bin/etcd-agent.mjs';

const isBelow = (path: string, directories: readonly string[]): boolean =>
  directories.some((directory) => path === directory || path.startsWith(`${directory}/`));

const withoutNested = (paths: readonly string[]): string[] => {
  const all = [...new Set(paths)];
  return all.filter(
    (path) =>
      !isBelow(
        path,
        all.filter((other) => other !== path),
      ),
  );
};

/** For a POSIX shell. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
