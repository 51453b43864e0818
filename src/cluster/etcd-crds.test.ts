import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chart, type ChartProps, Testing } from 'cdk8s';
import { parse } from 'yaml';
import { crds, schemaOf } from '../../test/apply/schema';
import type { Manifest } from '../../test/synth';
import { Compression, DeletionPolicy, EtcdCrds, NoSpacePolicy, ServerSideEncryption, VerificationLevel } from '..';
import { objectSuffix } from '../etcd/cluster-names';

const plurals = ['etcdclusters', 'etcdbackups', 'etcdrestores', 'etcdusers'];
const files: Manifest[] = plurals.map((name) =>
  parse(readFileSync(join(__dirname, `../../crds/${name}.yaml`), 'utf8'), { version: '1.1' }),
);

function synthesize(props: ChartProps = {}): Manifest[] {
  const chart = new Chart(Testing.app(), 'crds', props);
  new EtcdCrds(chart, 'Crds');
  return Testing.synth(chart);
}

const wave = { 'argocd.argoproj.io/sync-wave': '-1' };
const kept = {
  ...wave,
  'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
};
const annotated = (annotations: object): Manifest[] =>
  files.map((file) => ({ ...file, metadata: { ...file.metadata, annotations } }));

test('are the files of crds/; Argo CD applies them first, and keeps them like Flux', () => {
  expect(synthesize()).toEqual(annotated(kept));
});

test('can be left to what applies them', () => {
  const chart = new Chart(Testing.app(), 'crds');
  new EtcdCrds(chart, 'Crds', { protect: false });
  expect(Testing.synth(chart)).toEqual(annotated(wave));
});

test("are cluster-scoped, whatever the chart's namespace", () => {
  expect(synthesize({ namespace: 'shop' })).toEqual(annotated(kept));
});

test('can have other annotations', () => {
  const chart = new Chart(Testing.app(), 'crds');
  new EtcdCrds(chart, 'Crds').etcdClusters.metadata.addAnnotation('argocd.argoproj.io/sync-wave', '-9');
  const [clusters, backups] = Testing.synth(chart);
  expect(clusters.metadata.annotations).toEqual({ ...kept, 'argocd.argoproj.io/sync-wave': '-9' });
  expect(backups.metadata.annotations).toEqual(kept);
});

// The API server refuses what it cannot bound the cost of, and `kubectl explain` shows nothing but these.
test.each(crds.map((crd) => [crd.spec.names.kind, schemaOf(crd)]))(
  'every field of %s has a description, and every text and list of its spec an end',
  (_, schema) => {
    const fields = [...fieldsOf('spec', schema.properties.spec), ...fieldsOf('status', schema.properties.status)];
    expect(fields.length).toBeGreaterThan(20);
    expect(fields.filter(([, field]) => !field.description).map(([path]) => path)).toEqual([]);
    const endless = ([, field]: [string, Manifest]) =>
      (field.type === 'string' && !field.enum && !field.format && !field.maxLength) ||
      (field.type === 'array' && !field.maxItems);
    expect(fields.filter(endless).map(([path]) => path)).toEqual([]);
  },
);

// kubectl apply writes the whole definition into an annotation, whose size Kubernetes limits.
test.each(files.map((file) => [file.spec.names.kind, file]))('%s can be applied by kubectl', (_, file) => {
  expect(Buffer.byteLength(JSON.stringify(file))).toBeLessThan(240_000);
});

test.each(files.map((file) => [file.spec.names.kind, file.spec.versions[0].schema.openAPIV3Schema]))(
  'a row of %s is not empty while no reconciler runs',
  (_, { properties: { status } }) => {
    expect(status.default.phase ?? status.default.conditions[0].status).toMatch(/^(Pending|Unknown)$/);
    expect(status.default.message ?? status.default.conditions[0].message).toContain('no reconciler');
    expect(Object.keys(status.properties)).toEqual(expect.arrayContaining(Object.keys(status.default)));
  },
);

test('a cluster cannot be called as the constructs refuse it', () => {
  const { openAPIV3Schema } = files[0].spec.versions[0].schema;
  expect(openAPIV3Schema['x-kubernetes-validations']).toContainEqual(
    expect.objectContaining({ rule: `!self.metadata.name.matches('${objectSuffix.source}')` }),
  );
});

const specOf = (index: number): Manifest =>
  files[index].spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;
const schedule: Manifest = specOf(0).backup.properties.schedules.items.properties;

test.each<[string, Manifest, object]>([
  ['compression', schedule.compression, Compression],
  ['compression of an EtcdBackup', specOf(1).compression, Compression],
  ['verify', schedule.verify, VerificationLevel],
  ['onShrink', specOf(0).pvcPolicy.properties.onShrink, DeletionPolicy],
  ['onDelete', specOf(0).pvcPolicy.properties.onDelete, DeletionPolicy],
  ['onNoSpace', specOf(0).maintenance.properties.onNoSpace, NoSpacePolicy],
  ['serverSideEncryption', specOf(1).store.properties.s3.properties.serverSideEncryption, ServerSideEncryption],
])('%s takes what the library writes', (_, field, library) => {
  expect([...field.enum].sort()).toEqual(Object.values(library).sort());
});

test.each([
  ['size', specOf(0).size, 3],
  ['onShrink', specOf(0).pvcPolicy.properties.onShrink, 'Retain'],
  ['onDelete', specOf(0).pvcPolicy.properties.onDelete, 'Retain'],
  ['replace.policy', specOf(0).replace.properties.policy, 'OnVolumeLoss'],
  ['onNoSpace', specOf(0).maintenance.properties.onNoSpace, 'CompactDefragDisarm'],
  ['safetyBackup', specOf(2).safetyBackup, true],
  ['ignoreUnreachablePods', specOf(2).ignoreUnreachablePods, false],
])('%s has its default', (_, field, value) => {
  expect(field.default).toBe(value);
});

test('twice in a chart is refused, and once in each of two charts is not', () => {
  const app = Testing.app();
  const chart = new Chart(app, 'crds');
  const first = new EtcdCrds(chart, 'crds');
  new EtcdCrds(new Chart(app, 'elsewhere'), 'crds');
  expect(first.node.validate()).toEqual([]);
  const second = new EtcdCrds(chart, 'again');
  expect(second.node.validate()).toEqual(['another EtcdCrds of this chart has the same definitions; remove one']);
  chart.node.tryRemoveChild('crds');
  expect(second.node.validate()).toEqual([]);
});

function fieldsOf(path: string, schema: Manifest): [string, Manifest][] {
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => fieldsOf(`${path}.${name}`, field));
  return [[path, schema], ...inner, ...(schema.items ? fieldsOf(`${path}[]`, schema.items) : [])];
}
