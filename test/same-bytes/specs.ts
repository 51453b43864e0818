// Specs of EtcdClusters at random, from their schema alone: the fields of tomorrow are drawn too.
import fc from 'fast-check';
import { resourceProblems } from '../../src/resource/resource-problems';
import { type Schema, schemaOf } from '../../src/resource/schema';

type Draw = fc.Arbitrary<unknown>;

/** Values of fields whose schema says less than what is meant. */
const known: Readonly<Record<string, Draw>> = {
  version: fc.constantFrom('3.5.35', '3.6.16', '3.7.3'),
  cron: fc.constantFrom('0 * * * *', '*/15 2 * * 1-5'),
  timeZone: fc.constantFrom('Europe/Berlin', 'Etc/UTC'),
  fileNameTimeZone: fc.constantFrom('Europe/Berlin', 'Etc/UTC'),
  fileName: fc.constantFrom('orders-%Y%m%d-%H%M%S', '%H'),
  image: fc.constant('registry.example.com/image'),
  agentImage: fc.constant('registry.example.com/agent:1'),
  cidr: fc.constantFrom('10.0.0.0/8', '2001:db8::/32'),
  hostKey: fc.constant(`SHA256:${'a'.repeat(43)}`),
  endpoint: fc.constant('https://s3.example.com'),
  recipients: fc.constant(['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p']),
  size: fc.constantFrom(1, 3, 5, 7),
  'storage.size': fc.constantFrom('8Gi', '17Gi', '20G'),
  quota: fc.constantFrom('1Mi', '512Mi', '1Gi'),
  cpu: fc.constantFrom('100m', '0.5'),
  memory: fc.constantFrom('1Gi', '2Gi'),
  heartbeatInterval: fc.constantFrom('100ms', '200ms'),
  electionTimeout: fc.constantFrom('1s', '5s'),
  autoCompaction: fc.constantFrom({ mode: 'periodic', retention: '2h' }, { mode: 'revision', retention: '1000' }),
  startingDeadline: fc.constantFrom('11s', '2h'),
  activeDeadline: fc.constantFrom('10h', '1d'),
  settings: fc.constantFrom({}, { 'max-request-bytes': 10_485_760 }, { 'log-level': 'warn' }),
  tolerations: fc.constantFrom([], [{ operator: 'Exists' }], [{ key: 'a', value: 'b', effect: 'NoSchedule' }]),
  'command.env': fc.constantFrom({}, { A: '$(B)' }),
  affinity: fc.constantFrom({}, { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } }),
  topologySpreadConstraints: fc.constantFrom(
    [],
    [{ maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
  ),
  hostAliases: fc.constantFrom([], [{ ip: '10.0.0.9', hostnames: ['kms.example.com'] }]),
  dnsConfig: fc.constantFrom({}, { options: [{ name: 'timeout', value: '1' }] }),
  securityContext: fc.constantFrom({}, { runAsNonRoot: true }),
  env: fc.constantFrom([], [{ name: 'A', value: '$(B)' }]),
  envFrom: fc.constantFrom([], [{ secretRef: { name: 'own' } }]),
  volumeMounts: fc.constantFrom([], [{ name: 'own', mountPath: '/own' }]),
  'storage.selector': fc.constantFrom({}, { matchLabels: { disk: 'nvme' } }),
  'service.loadBalancerSourceRanges': fc.constantFrom([], ['10.0.0.0/8']),
  'externalServices.loadBalancerSourceRanges': fc.constantFrom([], ['10.0.0.0/8']),
  volumes: fc.constantFrom([], [{ name: 'own', emptyDir: {} }]),
  initContainers: fc.constantFrom([], [{ name: 'init', image: 'own:1' }]),
  sidecars: fc.constantFrom([], [{ name: 'sidecar', image: 'own:1' }]),
  overrides: fc.constantFrom(
    [],
    [{ target: 'MemberPods', patch: { spec: { dnsPolicy: 'Default', securityContext: { runAsUser: null } } } }],
    [{ target: 'ClientService', patch: { metadata: { annotations: { b: '1', a: '2' } } } }],
  ),
  'schedule.overrides': fc.constantFrom(
    [],
    [{ target: 'BackupPods', patch: { spec: { securityContext: { fsGroup: 1 }, dnsPolicy: 'Default' } } }],
  ),
  interval: fc.constantFrom('30s', '5m'),
  exclude: fc.constantFrom([], ['EtcdQuorumLost']),
  'nfs.path': fc.constant('/srv/etcd'),
  'sftp.path': fc.constantFrom('backup', '/backup/etcd'),
  'command.path': fc.constant('/opt/store'),
  server: fc.constant('nfs.example.com'),
};

const words = fc.stringMatching(/^[a-z][a-z0-9]{1,8}$/);

/** Fields that are there in every second draw, the required ones always. What breaks a rule is taken out. */
export const drawnSpec: fc.Arbitrary<Values> = (
  draw(schemaOf('EtcdCluster').properties!.spec!, 'spec', '') as fc.Arbitrary<Values>
).map((spec) => repaired({ spec: withVolumes(spec) }));

type Values = Record<string, unknown>;

/** What containers of a cluster or of its schedules mount has to be there. */
function withVolumes(spec: Values): Values {
  const { schedules } = (spec.backup ?? {}) as { schedules?: Values[] };
  for (const each of [spec, ...(schedules ?? [])])
    if (JSON.stringify(each).includes('"/own"')) each.volumes = [{ name: 'own', emptyDir: {} }];
  return spec;
}

function repaired(resource: { readonly spec: Values }): Values {
  for (let round = 0; round < 20; round++) {
    const problems = resourceProblems('EtcdCluster', resource.spec, { name: 'orders' });
    if (problems.length === 0) break;
    for (const { path } of problems) remove(resource, path.split(/[.[\]]+/).filter(Boolean));
  }
  return resource.spec;
}

/** Removes a field, or an item of a list with all others. */
function remove(value: unknown, [name, ...below]: string[]): void {
  if (typeof value !== 'object' || value === null || name === undefined) return;
  const values = value as Values;
  const isItem = Array.isArray(values[name]) && below.length === 1;
  if (below.length === 0 || isItem) delete values[name];
  else remove(values[name], below);
}

function draw(schema: Schema, name: string, parent: string): Draw {
  const fixed = known[`${parent}.${name}`] ?? (name === 'size' && parent !== 'spec' ? undefined : known[name]);
  if (fixed) return fixed;
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'integer': {
      const { minimum = 0, maximum = minimum + 1_000 } = schema;
      return fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1_000) });
    }
    case 'boolean':
      return fc.boolean();
    case 'array': {
      const { items = {}, minItems = 0, maxItems = 2 } = schema;
      const [key] = schema['x-kubernetes-list-map-keys'] ?? [];
      const item = draw(items, name.replace(/s$/, ''), name);
      const length = { minLength: minItems, maxLength: Math.min(maxItems, Math.max(2, minItems)) };
      return fc.uniqueArray(item, {
        ...length,
        selector: (value) => JSON.stringify(key === undefined ? value : (value as Record<string, unknown>)[key]),
      });
    }
    default:
      return object(schema, name);
  }
}

function object(schema: Schema, name: string): Draw {
  const { properties, additionalProperties, required = [] } = schema;
  if (!properties) {
    const value = typeof additionalProperties === 'object' ? draw(additionalProperties, '', name) : words;
    return fc.dictionary(words, value, { maxKeys: 2, noNullPrototype: true });
  }
  const all = Object.fromEntries(Object.entries(properties).map(([field, each]) => [field, draw(each, field, name)]));
  const choices = (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule }) => oneOfIn(rule));
  if (choices.length === 0) return fc.record(all, { requiredKeys: [...required], noNullPrototype: true });
  // Of these fields exactly one is given.
  return fc.constantFrom(...choices).chain((chosen) => {
    const rest = Object.entries(all).filter(([field]) => field === chosen || !choices.includes(field));
    return fc.record(Object.fromEntries(rest), { requiredKeys: [...required, chosen], noNullPrototype: true });
  });
}

function oneOfIn(rule: string): string[] {
  const [, list] = /^\[((?:has\(self\.\w+\)(?:, )?)+)\]\.exists_one\(/.exec(rule) ?? [];
  if (list !== undefined) return [...list.matchAll(/self\.(\w+)/g)].map(([, field]) => field!);
  if (rule === 'has(self.anywhere) != has(self.peers)') return ['anywhere', 'peers'];
  return rule.startsWith('has(self.cidr) != ') ? ['cidr', 'podLabels', 'namespace', 'namespaceLabels'] : [];
}

function text(schema: Schema): Draw {
  if (schema.format === 'date-time') return fc.constant('2026-11-21T02:38:07Z');
  const rules = (schema['x-kubernetes-validations'] ?? []).map(({ rule }) => rule);
  const found = rules.flatMap((rule) => /(?<!!)self\.matches\(r?'(.*?)'\)/.exec(rule)?.[1] ?? []);
  if (found.length === 0) return words;
  return fc
    .stringMatching(new RegExp(found[0]!), { size: 'xsmall' })
    .filter((value) => value.length <= (schema.maxLength ?? 64));
}
