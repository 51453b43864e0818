// `npm run suite -- lint-manifests`: kube-score's default checks on dist/ and on what each example writes. Every remark must have
// its answer below, and every answer its remark.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { goProgram } from '../lib/go/go-program.mjs';
import { synthesize } from '../lib/synthesize.mjs';

parseArgs();
const root = join(import.meta.dirname, '../..');

/** Its remarks, their kinds, and why these stay unchanged. */
const answers = {
  'ImagePullPolicy is not set to Always': {
    kinds: ['CronJob', 'DaemonSet', 'Deployment', 'Pod', 'StatefulSet'],
    why: 'the tags never move, and a registry that is down must not keep an etcd from starting again',
  },
  'CPU limit is not set': {
    kinds: ['Deployment', 'Pod', 'StatefulSet'],
    why: 'throttling an etcd, or what it waits for, costs it elections',
  },
  'Ephemeral Storage limit is not set': {
    kinds: ['CronJob', 'DaemonSet', 'Deployment', 'Pod', 'StatefulSet'],
    why: 'it would evict a pod for the size of the database that it works on',
  },
  'Ephemeral Storage request is not set': {
    kinds: ['CronJob', 'DaemonSet', 'Deployment', 'Pod', 'StatefulSet'],
    why: 'root file systems are read-only: what is left are logs, which the kubelet rotates',
  },
  'The pod does not have a matching egress NetworkPolicy': {
    kinds: ['CronJob', 'Deployment', 'StatefulSet'],
    why: 'DNS, the Kubernetes API and the stores are where only the user knows',
  },
  'The pod does not have a matching NetworkPolicy': {
    kinds: ['CronJob', 'DaemonSet', 'Deployment', 'Pod'],
    why: "a backup of somebody else's etcd, what belongs to a control plane's, and the client of an example listen on nothing",
  },
  'Memory limit is not set': {
    kinds: ['Pod'],
    why: 'a static Pod that restores a control plane must not be killed for the size of the database',
  },
  'The container is running with a low user ID': {
    kinds: ['CronJob', 'Pod'],
    why: "a control plane's etcd has its keys and its data for root alone",
  },
  'The container running with a low group ID': {
    kinds: ['CronJob', 'Pod'],
    why: 'as above',
  },
  "The NetworkPolicys selector doesn't match any pods": {
    kinds: ['NetworkPolicy'],
    why: 'it is for Jobs, which the reconciler starts later',
  },
  'The services selector does not match any pods': {
    kinds: ['Service'],
    why: 'it selects one member by the label that only Kubernetes gives the pods of a StatefulSet',
  },
  'Deployment few replicas': {
    kinds: ['Deployment'],
    why: 'etcd runs on without its reconciler, which one Lease would keep to one at work anyway',
  },
  'No matching PodDisruptionBudget was found': {
    kinds: ['Deployment'],
    why: 'etcd runs on without its reconciler, and a drain must not wait for it',
  },
  'Deployment does not have a host podAntiAffinity set': {
    kinds: ['Deployment'],
    why: 'a topology spread constraint keeps its replicas on different nodes where there are such',
  },
  'StatefulSet does not have a host podAntiAffinity set': {
    kinds: ['StatefulSet'],
    why: 'the topology spread constraint on nodes does the same, and counts',
  },
};

/** Objects of an example that are not ours. */
const theirs = new Set(['shop']);

/** `Kind: remark` → the objects. */
const remarks = new Map();

function lint(kubeScore, app, directory) {
  const names = readdirSync(directory, { recursive: true }).filter((name) => name.endsWith('.yaml'));
  const files = names.map((name) => join(directory, name));
  const args = ['score', '--output-format=json', '--kubernetes-version=v1.30', ...files];
  const { error, stdout, stderr } = spawnSync(kubeScore, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (error) throw error;
  if (!stdout.startsWith('[')) throw new Error(`kube-score on ${app}: ${stderr || stdout}`);
  for (const { object_meta, type_meta, checks } of JSON.parse(stdout)) {
    if (theirs.has(object_meta.name)) continue;
    const comments = checks.filter(({ grade, skipped }) => grade < 10 && !skipped).flatMap((check) => check.comments);
    for (const { path, summary } of comments) {
      const key = `${type_meta.kind}: ${summary}`;
      remarks.set(key, [...(remarks.get(key) ?? []), `${app} ${object_meta.name} ${path}`]);
    }
  }
}

const kubeScore = await goProgram('kube-score', 'github.com/zegl/kube-score/cmd/kube-score', 'a minute or so');
lint(kubeScore, 'dist', join(root, 'dist'));
for (const example of readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.ts'))) {
  const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-lint-'));
  try {
    synthesize(`examples/${example}`, directory);
    lint(kubeScore, `examples/${example}`, directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const answered = Object.entries(answers).flatMap(([said, { kinds }]) => kinds.map((kind) => `${kind}: ${said}`));
const wrong = [
  ...[...remarks.keys()]
    .filter((key) => !answered.includes(key))
    .map((key) => `${key}\n  ${remarks.get(key).join('\n  ')}`),
  ...answered.filter((key) => !remarks.has(key)).map((key) => `${key}\n  is answered, but no longer said`),
];
if (wrong.length > 0) {
  console.error(wrong.join('\n'));
  process.exitCode = 1;
} else {
  for (const [said, { why }] of Object.entries(answers)) console.log(`${said}: ${why}`);
}
