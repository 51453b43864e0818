import { ApiObject, JsonPatch, Lazy } from 'cdk8s';
import { cluster, objectOf } from '../../../test/clusters';
import type { Manifest } from '../../../test/synth';
import { type Schema, schemaOf } from '../../resource/schema';
import { changedFields, madeFrom, madeFromAnnotation } from './made-from';

const sourceOf = ({ metadata }: Manifest): string => metadata.annotations[madeFromAnnotation];
const of = (spec: object): string => madeFrom({ version: '3.6.16', ...spec });
/** The fields of the first spec that the second one has otherwise. */
const changed = (before: object, now: object): string[] => changedFields(of(before), of(now));

describe('the StatefulSet says which spec it was made from', () => {
  const labels = { team: Lazy.any({ produce: () => 'a' }) as string };

  test('also where values of the construct are known at synthesis only', () => {
    const subject = cluster({ labels });
    const [statefulSet, resource] = [objectOf(subject, 'StatefulSet'), objectOf(subject, 'EtcdCluster')];
    const labelled = (team: string) => madeFrom({ ...resource.spec, labels: { team } });
    expect(sourceOf(statefulSet)).toBe(madeFrom(resource.spec));
    expect(changedFields(sourceOf(statefulSet), labelled('a'))).toEqual([]);
    expect(changedFields(sourceOf(statefulSet), labelled('b'))).toEqual(['labels']);
  });

  test('its pods do not, so nothing restarts', () => {
    const templateOf = (props: object) => objectOf(cluster(props), 'StatefulSet').spec.template;
    expect(templateOf({ annotations: { a: 'b' } })).toEqual(templateOf({}));
  });

  test('a patch of the resource is not a difference that an apply could remove', () => {
    const subject = cluster();
    ApiObject.of(subject).addJsonPatch(JsonPatch.add('/spec/protect', false));
    const resource = objectOf(subject, 'EtcdCluster');
    expect(resource.spec.protect).toBe(false);
    expect(sourceOf(objectOf(subject, 'StatefulSet'))).toBe(madeFrom(resource.spec));
  });
});

test('more external Services follow from more members', () => {
  const externalServices = { type: 'LoadBalancer' };
  expect(changed({ externalServices }, { externalServices, size: 5 })).toEqual(['size']);
  expect(changed({}, { size: 5 })).toEqual([]);
  expect(changed({ size: 5 }, { externalServices, size: 5 })).toEqual(['externalServices']);
});

test('a variable that is replaced after synthesis may have any value', () => {
  expect(changed({ labels: { team: `\${team}` } }, { labels: { team: 'a' } })).toEqual([]);
  expect(changed({ labels: { team: `\${team}` } }, {})).toEqual([]);
  expect(changed({ labels: { team: 'a' } }, { labels: { team: `\${team}` } })).toEqual(['labels']);
});

test('another release of the format says nothing', () => {
  const earlier = of({ labels: { a: 'b' } }).replace('format=1', 'format=0');
  expect(changedFields(earlier, of({}))).toEqual([]);
  expect(changedFields('labels=1b2c3d4e', of({}))).toEqual([]);
});

// A reconciler of an earlier release would compare a default that newer CRDs fill in, and call each of its clusters outdated.
test('the API server fills in no default of a compared field but those that are known', () => {
  const { properties = {} } = schemaOf('EtcdCluster').properties!.spec!;
  const defaulted = (schema: Schema, path: string): string[] => [
    ...(schema.default === undefined ? [] : [path]),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => defaulted(each, `${path}.${name}`)),
    ...(schema.items ? defaulted(schema.items, path) : []),
  ];
  const all = Object.entries(properties).flatMap(([name, schema]) => defaulted(schema, name));
  expect(all).toEqual([
    ...['size', 'allowEvenSize', 'paused', 'replace.policy', 'replace.force.discardVolume', 'recovery.action'],
    ...['storage.ephemeral', 'pvcPolicy.onShrink', 'pvcPolicy.onDelete', 'backup.requiredForUpgrade'],
    'maintenance.onNoSpace',
  ]);
});

// If this fails, the same spec counts as changed after an upgrade: increase `format`.
test('the same spec has the same string in every release with this format', () => {
  const everything = {
    ...{ size: 5, labels: { a: 'b' }, storage: { size: '8Gi' }, clusterDomain: 'example.com', protect: false },
    ...{ tls: { managed: { duration: '10d' }, alsoTrust: { certManager: { issuer: 'ca' } } }, monitoring: {} },
    ...{ externalServices: { type: 'NodePort' }, pvcPolicy: { onDelete: 'Delete' }, reconciler: { name: 'ours' } },
    ...{ overrides: [{ target: 'MemberPods', patch: { spec: { priority: null } } }] },
    backup: { schedules: [{ name: 'daily', cron: '@daily', stores: [{ file: { path: '/backup' } }] }] },
  };
  expect([of({}), of(everything)]).toMatchInlineSnapshot(`
[
  "format=1",
  "format=1,backup.schedules=aa35e58d,clusterDomain=6902ca67,externalServices=019648e4,labels=db4a7ecb,monitoring=44136fa3,overrides=99da5722,protect=fcbcf165,pvcPolicy.onDelete=b5bea41b,reconciler=17744dc3,size=ef2d127d,storage=280ea266,tls.alsoTrust=881f1f11,tls=f72dadca",
]
`);
});
