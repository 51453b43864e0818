// The rooms of the agent and of the library, from the bottom to the top. A room may import itself and the rooms below it;
// docs/contributing/architecture.md describes them.
const agent = [
  'lib',
  ['protocol', 'kube', 'etcd', 'store'],
  'backup',
  'member',
  'control-plane',
  'controllers',
  ['commands', 'plugin'],
];
/** Within the controllers, and within that of the clusters. The files beside these folders put the rooms together. */
const controllers = ['port', 'etcd', 'objects', 'jobs', 'kubernetes', ['backup', 'certificates', 'cluster', 'users']];
const cluster = ['engine', 'facts', 'operations', 'conditions'];
const aFile = '[^/]+[.]ts';
const library = [
  ['packaged', 'validation'],
  'resource',
  'overrides',
  'lib',
  'etcd',
  'tls',
  ['stores', 'monitoring'],
  'backup',
  'users',
  'clients',
  'reconciler',
  'cluster',
  'control-plane',
  'index.ts',
  'render',
  'dist',
];

/** Tests, and what only tests import: they may import what their room may not. */
const isForTests = '[.](test|suite|fixture)[.]ts$';

const inRoom = (root, rooms) => `^${root}/(${rooms.join('|')})(/|$)`;

/** Rooms of one storey may not import each other either. */
const rules = (root, storeys) =>
  storeys.flatMap((storey, index) =>
    [storey].flat().map((room) => {
      const beside = [storey].flat().filter((other) => other !== room);
      const above = storeys.slice(index + 1).flat();
      return {
        name: `${root}/${room}`,
        comment: `${room} imports only the rooms below it`,
        severity: 'error',
        from: { path: inRoom(root, [room]), pathNot: isForTests },
        to: { path: inRoom(root, [...beside, ...above]) },
      };
    }),
  );

/** Every file is in a room, and nothing imports the programs, which stand above all rooms. */
const everyRoom = (root, rooms, programs) => [
  {
    name: `${root}/every-room`,
    comment: 'a new folder or file of this level is listed above',
    severity: 'error',
    from: {},
    to: { path: `^${root}/`, pathNot: inRoom(root, [...rooms.flat(), ...programs]) },
  },
  {
    name: `${root}/programs`,
    severity: 'error',
    from: { path: inRoom(root, rooms.flat()), pathNot: isForTests },
    to: { path: inRoom(root, programs) },
  },
];

export default {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'files do not import each other in a circle, not even for types',
      severity: 'error',
      from: { pathNot: isForTests },
      // The public API itself: a cluster adds schedules, and a schedule has a cluster.
      to: {
        circular: true,
        via: { pathNot: '^src/backup/(i-etcd-cluster|etcd-backup-schedule|etcd-cluster-checks)[.]ts$' },
      },
    },
    {
      name: 'agent-knows-little-of-the-library',
      comment: 'the agent imports only what both sides must agree on',
      severity: 'error',
      from: { path: '^agent/src' },
      to: {
        path: '^src/',
        pathNot:
          '^src/((lib|validation|etcd|resource|overrides)/|(tls/default-names|cluster/manifests/made-from)[.]ts$)',
      },
    },
    {
      name: 'library-knows-nothing-of-the-agent',
      severity: 'error',
      from: { path: '^src', pathNot: isForTests },
      to: { path: '^agent/' },
    },
    {
      name: 'the-control-plane-needs-no-member',
      comment: "a kubeadm node's etcd has no gate and no sidecar",
      severity: 'error',
      from: { path: '^agent/src/control-plane' },
      to: { path: '^agent/src/member' },
    },
    {
      name: 'the-plugin-knows-only-the-api-server',
      severity: 'error',
      from: { path: '^agent/src/plugin', pathNot: isForTests },
      to: { path: '^agent/src/', pathNot: '^agent/src/(plugin|lib|protocol|kube)/' },
    },
    ...everyRoom('agent/src', agent, ['cli.ts']),
    ...everyRoom('agent/src/controllers', controllers, [aFile]),
    ...everyRoom('agent/src/controllers/cluster', cluster, [aFile]),
    ...everyRoom('src', library, ['cli.ts', 'main.ts']),
    {
      name: 'no-tests-in-production',
      comment: 'a fixture may import what its room may not',
      severity: 'error',
      from: { path: '^(agent/)?src/', pathNot: isForTests },
      to: { path: isForTests },
    },
    {
      name: 'nothing-beside-the-sources',
      comment: 'scripts, helpers of tests, benchmarks and examples are not part of what runs',
      severity: 'error',
      from: { path: '^(agent/)?src/', pathNot: isForTests },
      to: { path: '^(agent/test|test|scripts|bench|quickstart|examples)/' },
    },
    ...rules('agent/src', agent),
    ...rules('agent/src/controllers', controllers),
    ...rules('agent/src/controllers/cluster', cluster),
    ...rules('src', library),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.mts', '.js'] },
  },
};
