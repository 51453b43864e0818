import { dirname } from 'node:path';
import { hostOf } from '../../control-plane/node/local-address.ts';
import type { EtcdNode } from '../../control-plane/node/node.ts';
import { startCommand } from '../../control-plane/restore/restore.ts';
import { stopCommand } from '../../control-plane/restore/stop-node.ts';
import type { LeftOut } from '../../control-plane/state/members-left-out.ts';
import { type SnapshotMember, titleOf } from '../../control-plane/state/snapshot-members.ts';
import { CONTROL, quoted } from '../../lib/quoted.ts';

export interface PlanRequest {
  /** Who serves, and whether to restore at all. */
  readonly finding: string;
  readonly id: string;
  readonly createdAt: string;
  readonly revision: number;
  readonly sourceClusterId: string;
  readonly members: readonly SnapshotMember[];
  readonly token: string;
  readonly bump: number;
  readonly initialCluster: string;
  /** Members of the old cluster that the restored one will not have. */
  readonly leftOut: readonly (SnapshotMember & Pick<LeftOut, 'foreign'>)[];
  readonly node: EtcdNode;
  readonly manifestsDir: string;
  readonly journalDir: string;
  /** Flags that the command needs again, on every node. */
  readonly flags: readonly string[];
  /** Files and folders that these flags name. */
  readonly files: readonly string[];
  /** Further paths from which etcd's unit may be read. Each node mounts those that exist there. */
  readonly mayExist?: readonly string[];
  /** Folder of a filesystem store on this machine. */
  readonly storeFolder?: string;
  readonly image?: string;
  /** Facts to read before the first step, one line each. */
  readonly notes: readonly string[];
}

/** One numbered step: commands for a shell on the node. */
export interface PlanStep {
  /** Name of a member. Undefined if the step is for every node. */
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
  const restore = `etcd-agent restore control-plane ${quoted(plan.id)} ${plan.flags.join(' ')}`.trimEnd();
  const byHand = (what: string, command: string) =>
    outside ? `; when it asks for it, in another terminal: ${what} etcd (\`${command}\`)` : '';
  const stopping = byHand('stop', stopCommand(node.kind));
  const starting = byHand('start', startCommand(node.kind));
  return [
    // An etcd of another cluster at the member's address is not stopped.
    ...plan.leftOut
      .filter(({ foreign }) => foreign === undefined)
      .map((member) => ({
        why: `On ${titleOf(member)}, which is not a member of the restored cluster: stop ${outside ? 'etcd' : 'the API server and etcd'} permanently (if it is down now, before it comes back). It can join again after the restore${outside ? '' : ' (kubeadm reset, kubeadm join)'}`,
        commands: outside
          ? ['systemctl disable --now etcd']
          : [
              `mkdir ${quoted(`${plan.journalDir}/etcd-left-out`)}`,
              `mv ${['kube-apiserver.yaml', 'etcd.yaml'].map((name) => quoted(`${plan.manifestsDir}/${name}`)).join(' ')} ${quoted(`${plan.journalDir}/etcd-left-out/`)}`,
            ],
      })),
    {
      why: 'On every node, in the shell for the next steps: define the etcd-agent function',
      commands: [`mkdir -p /var/log/pods; mkdir -p -m 0700 ${quoted(node.member.dataDir)}`, agentFunction(plan)],
    },
    ...(several
      ? on(
          `fetch and verify the snapshot, then stop the API server and etcd. This may run on all nodes at once. Do it on all of them before you continue${stopping}`,
          [`${restore} --stop`],
        )
      : []),
    ...on(
      several
        ? `restore, and start etcd and the API server again. Run this on every node without waiting for the previous node to finish: the nodes wait for each other${starting}`
        : `fetch and verify the snapshot, stop the API server and etcd, restore, and start them again${stopping}${starting}`,
      [restore],
    ),
    ...on(
      'restart the kubelet, which caches what it has read; after the last of these nodes, also on every worker node',
      ['systemctl restart kubelet'],
    ),
    ...on('check the result', [`etcd-agent restore control-plane --check ${localFlags(plan).join(' ')}`.trimEnd()]),
  ];
}

export function planText(plan: PlanRequest): string {
  const { node } = plan;
  const steps = planSteps(plan).flatMap(({ why, commands }, at) => [
    `${at + 1}. ${why}`,
    ...commands.map((command) => `     ${command}`),
  ]);
  const lines = [
    `FINDING: ${plan.finding}.`,
    `Restore of ${plan.id}: taken ${plan.createdAt}, revision ${plan.revision}, cluster ${plan.sourceClusterId}. The snapshot was just fetched and verified; nothing was changed.`,
    `This node: ${node.member.name}, etcd ${node.version ?? 'of an unknown version'}${node.image ? ` (${node.image})` : ''}, read from ${node.source}; data in ${node.member.dataDir}, manifests in ${plan.manifestsDir}.`,
    `The new cluster: --initial-cluster=${quoted(plan.initialCluster)} --initial-cluster-token=${quoted(plan.token)} --bump-revision=${plan.bump}`,
    ...plan.notes.map((note) => `NOTE: ${note}.`),
    '',
    ...steps,
    '',
    'Repeat an interrupted step with the same command. Until the new member has served, this command puts the old data and manifests back, on each node:',
    `     etcd-agent restore control-plane --undo ${localFlags(plan).join(' ')}`.trimEnd(),
    ...(node.kind === 'static-pod' ? [staticPodWay(plan)] : []),
    `Old data, if there are any, remain in ${node.member.dataDir}/member.replaced-…, the manifests and the journal in ${plan.journalDir}/etcd-restore-….`,
  ];
  // Text from the store is not trusted: it must not look like a line of the plan.
  return lines.map(visible).join('\n');
}

const visible = (line: string): string => line.replaceAll(CONTROL, '?');

function staticPodWay({ id, bump, flags, manifestsDir }: PlanRequest): string {
  const forced = Object.entries(REQUESTED).flatMap(([flag, name]) => (flags.includes(flag) ? [`${name}: true`] : []));
  const lines = [`snapshot: ${JSON.stringify(id)}`, `bumpRevision: ${bump}`, ...forced].map((line) => `\`${line}\``);
  return `Instead of \`etcd-agent restore control-plane …\` you can use the static Pod, on all nodes at the same time: write the lines ${lines.join(' and ')} into /etc/etcd-restore/restore.yaml, copy etcd-restore.yaml into ${manifestsDir}, and remove it from there when its log says that it is done.`;
}

/** Flags without a value, and what they are called in restore.yaml. */
const REQUESTED = { '--adopt': 'adopt', '--force-failed': 'forceFailed', '--force-foreign': 'forceForeign' };

/** Flags that name paths on this node. */
const localFlags = ({ flags }: PlanRequest): string[] =>
  flags.filter((flag) => /^--(manifests-dir|journal-dir|data-dir|etcd-)/.test(flag));

/**
 * Shell function that runs the agent's image from this node with containerd, without a registry. The container sees only the
 * listed paths of the host. `tasks exec` runs the agent as root, which `ctr run` of containerd 1.6 cannot do. Every run uses a
 * new name, because a killed run would still occupy an old one.
 */
function agentFunction({
  image,
  node,
  manifestsDir,
  journalDir,
  files,
  mayExist = [],
  storeFolder,
}: PlanRequest): string {
  const { dataDir, walDir, clientTls, peerTls } = node.member;
  const writable = [dirname(manifestsDir), journalDir, dataDir, walDir, storeFolder].filter(
    (path) => path !== undefined,
  );
  const tls = [clientTls, peerTls].flatMap(({ cert }) => (cert ? [dirname(cert)] : []));
  const readable = [...tls, ...files, '/var/log/pods'].filter((path) => !isBelow(path, [...writable, ...mayExist]));
  const optional = withoutNested(mayExist.filter((path) => !isBelow(path, writable)));
  const mount = (path: string, mode: string) =>
    `--mount ${quoted(`type=bind,src=${path},dst=${path},options=rbind:${mode}`)}`;
  const mounts = [
    ...withoutNested(writable).map((path) => mount(path, 'rw')),
    ...withoutNested(readable).map((path) => mount(path, 'ro')),
  ];
  const found = optional.length > 0 ? [mountIfThere(optional)] : [];
  return agentScript(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    [...mounts, ...found.map(() => '"${there[@]}"')],
    [...found, image === undefined ? NAMED_IMAGE : `image=${quoted(image)}`],
  )
    .map((line) => line.trim())
    .join(' ')
    .replaceAll('; )', ' )');
}

const mountIfThere = (paths: readonly string[]): string =>
  `there=(); for each in ${paths.map(quoted).join(' ')}; do [ ! -e "$each" ] || there+=(--mount "type=bind,src=$each,dst=$each,options=rbind:ro"); done;`;

/** The image that the user names, or that of the node's static Pod. */
const NAMED_IMAGE = `image="\${ETCD_AGENT_IMAGE:-$(sed -n 's/^[ -]*image: *"*\\([^"]*\\)"*$/\\1/p' /etc/etcd-restore/etcd-restore.yaml 2>/dev/null || :)}"`;

/**
 * Spells the name as containerd keeps it: with its registry, and either the digest or a tag. Any other image is refused: this
 * one runs as root with the node's files, and whoever can start a pod can bring an image of any name to the node.
 */
const KNOWN_IMAGE = [
  `image="$(sed -E 's#:[^:/@]+@#@#; s#^[^/]+$#library/&#; s#^[^/.:]+/#docker.io/&#; s#^docker.io/localhost/#localhost/#; s#/[^/:@]+$#&:latest#' <<<"$image")"`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
  'ctr -n k8s.io images ls -q | grep -qxF "${image:-none}" ||',
  `  { echo "the image $image is not on this node: set ETCD_AGENT_IMAGE to the agent's name in: ctr -n k8s.io images ls -q" >&2; exit 2; }`,
];

/** Lines of a shell function that runs in a subshell. It always removes its container, and those of killed shells. */
export const agentScript = (mounts: readonly string[], image: readonly string[] = [NAMED_IMAGE]): string[] => [
  'etcd-agent() (',
  '  name="etcd-restore-$(date +%s)-$$";',
  '  remove() { ctr -n k8s.io tasks rm --force "$1"; ctr -n k8s.io containers rm "$1"; };',
  "  for old in $(ctr -n k8s.io containers ls -q | grep '^etcd-restore-'); do",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
  '    kill -0 "${old##*-}" 2>/dev/null || remove "$old" >/dev/null 2>&1 || :;',
  '  done;',
  `  trap 'code=$?; remove "$name" >/dev/null 2>&1 || :; exit $code' EXIT; trap 'exit 130' HUP INT TERM;`,
  ...[...image, ...KNOWN_IMAGE].map((line) => `  ${/[;|]$/.test(line) ? line : `${line};`}`),
  '  ctr -n k8s.io run -d --null-io --net-host --with-ns pid:/proc/1/ns/pid',
  ...mounts.map((mount) => `    ${mount}`),
  `    "$image" "$name" ${AGENT} keep-image || exit;`,
  // The agent must not read what the user types ahead.
  `  ctr -n k8s.io tasks exec --user 0:0 --exec-id agent "$name" ${AGENT} "$@" </dev/null;`,
  ')',
];

/** Copies the image's entrypoint: `ctr` ignores the entrypoint when it gets arguments. */
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
