// Every slow suite by its name: what `npm run suite` lists and runs, and `npm run ci` chooses from.
import { join } from 'node:path';
import { cacheDirectory } from '../lib/cache.mjs';
import { build, bundle, node, plugin, provide, servers, suites } from '../lib/steps.mjs';

const isPath = (word) => word.includes('/');

/** Files of the agent's own tests, with real servers on this machine. Paths replace the suite's own; the runner of the tests gets the rest. */
const local =
  (paths, { workers = undefined, more = [] } = {}) =>
  ({ smoke, args }) => {
    servers();
    for (const name of more) provide(name);
    bundle();
    return suites(args.some(isPath) ? args : [...paths, ...args], { smoke, workers });
  };

/** A script that runs its own suites. */
const script =
  (file, prepare = () => {}) =>
  ({ smoke, args }) => {
    prepare();
    return node(file, [...(smoke ? ['--smoke'] : []), ...args]);
  };

const withServers =
  (...more) =>
  () => {
    servers();
    for (const name of more) provide(name);
    bundle();
  };

/**
 * In the order of their value. `minutes` is the duration of CI's part on a quiet machine with two cores; `smoke: false`
 * means that there is no shorter form; `subject` selects the suites that a change needs.
 */
export const all = {
  model: {
    about: 'every state that the reconciler can reach, with crashes at every point',
    minutes: 4,
    subject: ['agent/src/controllers/cluster', 'agent/src/controllers/port', 'agent/src/protocol', 'agent/test/model'],
    run: script('agent/test/model/check.mts'),
  },
  etcd: {
    about: 'the agent on etcd 3.4 to 3.7, with certificates and passwords; bad input',
    minutes: 7,
    smoke: false,
    subject: [
      'agent/src/etcd',
      'agent/src/backup',
      'agent/src/commands',
      'agent/src/controllers/certificates',
      'agent/test/etcd',
      'agent/test/harness',
    ],
    run: local([
      'agent/test/etcd',
      'agent/src/etcd',
      'agent/test/stores/s3-store',
      'agent/test/harness',
      'test/config-keys',
    ]),
  },
  clients: {
    about: 'clients in Go, Node and Python while certificates are rotated, on etcd 3.5 to 3.7',
    minutes: 4,
    subject: ['agent/src/controllers/certificates', 'agent/test/clients', 'test/tools'],
    run: local(['agent/test/clients'], { more: ['go-client', 'python'], workers: 1 }),
  },
  members: {
    about: 'gates, sidecars and the reconciler over real etcd processes under a writer, killed at every step',
    minutes: 12,
    subject: [
      'agent/src/member',
      'agent/src/controllers',
      'agent/src/protocol',
      'agent/test/members',
      'agent/test/local',
    ],
    run: local(
      ['agent/test/members', 'agent/src/member', 'agent/test/local', 'agent/test/certificates/two-reconcilers'],
      {
        workers: 2,
      },
    ),
  },
  backup: {
    about: 'etcd 3.4 to 3.7, every store, every fault; copy, adopt and the like',
    minutes: 16,
    subject: ['agent/src/backup', 'agent/src/store', 'agent/src/commands', 'agent/test/backup', 'agent/test/stores'],
    run: local(
      [
        ...['agent/src/backup', 'agent/src/commands', 'agent/src/store', 'agent/test/unit', 'agent/test/backup'],
        ...['agent/test/commands', 'agent/test/stores', 'agent/test/faults/etcd-faults'],
      ],
      { more: ['radosgw', 'sshd'] },
    ),
  },
  faults: {
    about: 'SIGTERM and kill -9 at every step; servers that fail, stall and lie',
    minutes: 5,
    subject: ['agent/src/backup', 'agent/src/store', 'agent/test/faults'],
    run: local(['agent/test/faults']),
  },
  'control-plane': {
    about: "a control plane's etcd destroyed and restored, with an imitated kubelet, then on a real kubeadm",
    minutes: 7,
    subject: ['agent/src/control-plane', 'agent/src/commands/restore', 'agent/test/control-plane'],
    run: script('scripts/suites/control-plane.mjs', withServers('sshd')),
  },
  apply: {
    about: 'a real API server accepts the custom resources and every manifest',
    minutes: 4,
    smoke: false,
    kubernetes: true,
    subject: ['src', 'crds', 'scripts/crds', 'test/apply'],
    run: script('scripts/suites/apply.mjs'),
  },
  reach: {
    about: 'dist/ as a base of Kustomize, with its components',
    minutes: 1,
    smoke: false,
    subject: ['src/dist', 'dist', 'test/reach'],
    run: ({ args }) => {
      provide('kustomize');
      return suites(args.length > 0 ? args : ['test/reach'], {
        env: { KUSTOMIZE: join(cacheDirectory, 'kustomize/kustomize') },
      });
    },
  },
  'same-bytes': {
    about: 'random clusters: their resource alone gives the objects of the construct, also through a real API server',
    minutes: 3,
    subject: ['src', 'scripts/crds', 'test/same-bytes'],
    run: ({ smoke, args }) => {
      if (smoke) process.env.SMOKE = '1';
      // Without a Kubernetes, everything but its part.
      return process.env.KUBECONFIG
        ? node('scripts/suites/apply.mjs', args.length > 0 ? args : ['test/same-bytes'])
        : suites(args.length > 0 ? args : ['test/same-bytes/same-bytes', 'test/same-bytes/made-from'], { smoke });
    },
  },
  plugin: {
    about: 'kubectl etcd against a real API server, and its kubeconfig compared with kubectl',
    minutes: 2,
    smoke: false,
    kubernetes: true,
    subject: [
      'agent/src/plugin',
      'agent/src/kube',
      'agent/build-plugin.mjs',
      'crds',
      'test/plugin',
      'agent/test/plugin',
    ],
    run: ({ args }) => {
      plugin();
      return node('scripts/suites/apply.mjs', args.length > 0 ? args : ['test/plugin', 'agent/test/plugin']);
    },
  },
  e2e: {
    about: 'the image at work on Kubernetes',
    minutes: 13,
    kubernetes: true,
    subject: ['agent/src', 'src', 'test/e2e'],
    run: script('scripts/suites/e2e.mjs'),
  },
  operations: {
    about: 'upgrades, failures, deletion and moves on Kubernetes',
    minutes: 5,
    kubernetes: true,
    subject: ['agent/src/controllers', 'agent/src/member', 'src', 'test/operations', 'test/tools/cert-manager'],
    run: script('scripts/suites/operations.mjs'),
  },
  security: {
    about: 'network policies in a namespace that denies everything, rights, and a scan for secrets',
    minutes: 5,
    kubernetes: true,
    subject: ['src/cluster/manifests', 'src/reconciler', 'src/lib', 'agent/src/commands/pods', 'test/security'],
    run: script('scripts/suites/security.mjs'),
  },
  chaos: {
    about: 'random faults, drawn by a seed, on a cluster with TLS, users, backups and a client',
    minutes: 4,
    kubernetes: true,
    subject: ['agent/src/controllers', 'agent/src/member', 'test/chaos'],
    run: script('scripts/suites/chaos.mjs'),
  },
  gitops: {
    about:
      'health checks for Argo CD and kstatus; then a platform repository that Argo CD and Flux apply to Kubernetes',
    // In CI only its local half runs.
    minutes: 2,
    subject: ['src', 'agent/src/protocol', 'gitops', 'agent/test/gitops', 'test/gitops'],
    run: script('scripts/suites/gitops.mjs', () => provide('gitops-health')),
  },
  alerts: {
    about: 'every alert fires, alone, and resolves: by promtool, and by real faults on Kubernetes',
    // In CI only its local half runs.
    minutes: 3,
    subject: ['src/monitoring', 'test/alerts', 'test/monitoring', 'agent/test/monitoring'],
    run: script('scripts/suites/alerts.mjs', () => {
      build();
      for (const name of ['etcd', 'prometheus']) provide(name);
    }),
  },
  dashboard: {
    about:
      'each panel of the dashboard while a cluster on Kubernetes loses its leader, is backed up and loses a volume',
    minutes: 4,
    kubernetes: true,
    // It builds the Prometheus operator first, which takes longer than CI has.
    ci: false,
    subject: ['src/monitoring', 'scripts/dashboard', 'test/monitoring'],
    run: script('scripts/suites/dashboard.mjs', () => provide('prometheus')),
  },
  retention: {
    about: '100,000 random histories against the rules of retention',
    minutes: 2,
    subject: ['agent/src/backup/retention', 'agent/src/backup/catalog'],
    run: ({ smoke, args }) => suites(args.length > 0 ? args : ['agent/test/retention/retention.suite'], { smoke }),
  },
  memory: {
    about: 'databases of 1 and 4 GiB through an agent that may use 100 MiB; a CPU limit of 100m',
    minutes: 2,
    subject: ['agent/src/backup', 'agent/src/store', 'agent/src/lib', 'agent/test/memory'],
    run: local(['agent/test/memory']),
  },
  scripts: {
    about: 'the command lines, and the commands of this repository, as processes',
    minutes: 1,
    smoke: false,
    subject: [
      'scripts',
      'src',
      'agent/src/plugin',
      '.github',
      'agent/Dockerfile',
      'test/scripts',
      'agent/test/scripts',
    ],
    run: ({ args }) => {
      bundle();
      const own = ['test/scripts', 'agent/test/scripts', 'src/render', 'agent/src/plugin'];
      return suites(args.some(isPath) ? args : [...own, ...args]);
    },
  },
  package: {
    about: 'the packed library in an empty cdk8s app, with the newest cdk8s and Node 22',
    minutes: 1,
    smoke: false,
    subject: ['src', 'package.json', 'scripts/suites/package.mjs'],
    run: script('scripts/suites/package.mjs'),
  },
  languages: {
    about: 'the library in Python, Java and Go: the same files and the same messages as in TypeScript',
    minutes: 2,
    subject: ['src', 'package.json', 'examples', 'scripts/lib/assembly.mjs', 'scripts/suites/languages.mjs'],
    run: script('scripts/suites/languages.mjs'),
  },
  site: {
    about: 'the site: every link and anchor, and every page in Chromium on a phone and on a desktop',
    minutes: 3,
    subject: ['docs', 'scripts/suites/site.mjs', 'scripts/lib/browser.mjs'],
    run: script('scripts/suites/site.mjs', () => provide('chromium')),
  },
  release: {
    about: 'the steps of a release, alone and together; its artifacts, made twice: the same bytes',
    minutes: 5,
    subject: ['scripts/release', 'scripts/lib/assembly.mjs', 'package.json', 'agent/Dockerfile', 'test/release'],
    run: ({ smoke, args }) => {
      bundle();
      if (args.some(isPath)) return suites(args, { smoke });
      const made = node('scripts/suites/release.mjs', [...(smoke ? ['--smoke'] : []), ...args]);
      return Math.max(suites(['test/release'], { smoke }), made);
    },
  },
  registry: {
    about: 'a release pushed to a registry, verified by cosign, and pulled by the nodes, which form a cluster of it',
    minutes: 4,
    smoke: false,
    kubernetes: true,
    // It builds cosign first, which takes longer than CI has.
    ci: false,
    subject: ['scripts/release', '.github', 'agent/Dockerfile', 'test/registry'],
    run: script('scripts/suites/registry.mjs', () => provide('docker-registry')),
  },
  workflows: {
    about: 'actionlint on the workflows of GitHub',
    minutes: 1,
    smoke: false,
    subject: ['.github'],
    run: script('scripts/suites/workflows.mjs'),
  },
  'lint-manifests': {
    about: 'kube-score on dist/ and the examples',
    minutes: 1,
    smoke: false,
    subject: ['src', 'dist', 'examples'],
    run: script('scripts/suites/lint-manifests.mjs'),
  },
  mutations: {
    about: '1,000 damaged snapshots',
    minutes: 3,
    smoke: false,
    subject: ['agent/src/backup', 'agent/src/etcd', 'agent/test/mutations'],
    run: local(['agent/test/mutations']),
  },
  fuzz: {
    about: 'mutated inputs for every parser of ours that reads what others wrote',
    minutes: 6,
    subject: [
      ...[
        'agent/src/etcd',
        'agent/src/backup/catalog',
        'agent/src/backup/payload',
        'agent/src/protocol',
        'agent/src/kube',
      ],
      ...['agent/src/lib', 'agent/src/member', 'agent/src/store', 'agent/src/control-plane/node', 'src/render'],
      'agent/test/fuzz',
    ],
    run: script('agent/test/fuzz/check.mts', build),
  },
  'model-mutants': {
    about: 'the model with each guard of the reconciler dropped in turn',
    minutes: 5,
    smoke: false,
    ci: false,
    subject: ['agent/src/controllers/cluster', 'agent/src/controllers/port', 'agent/test/model'],
    run: script('agent/test/model/mutants.mts'),
  },
};

/** Prepares what a benchmark needs. */
const prepared = {
  servers: withServers(),
  etcd: () => {
    provide('etcd');
    build();
    bundle();
  },
  library: build,
};

const bench = (about, needs, minutes, subject) => ({ about, minutes, subject, needs });

export const benches = {
  backup: bench('the agent against scripts, on one etcd and one S3 server', 'servers', 1, ['agent/src/backup']),
  restore: bench('from the stored snapshot to a member that serves', 'servers', 1, ['agent/src/backup']),
  catalog: bench('1,000 and 10,000 snapshots on a real S3 server', 'servers', 1, ['agent/src/backup']),
  lifecycle: bench('forming, healing, upgrading and restoring a cluster, against the same by hand', 'etcd', 2, [
    'agent/src/controllers',
    'agent/src/member',
  ]),
  reconciler: bench('one reconciler with 1, 100 and 1,000 clusters', 'etcd', 1, ['agent/src/controllers']),
  synth: bench('a synth of 1, 100 and 1,000 clusters', 'library', 1, ['src']),
};

/** Runs a benchmark. Returns its exit code. */
export function runBench(name, args) {
  prepared[benches[name].needs]();
  return node(`bench/${name}.mts`, args);
}
