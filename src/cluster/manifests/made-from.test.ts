import { ApiObject, JsonPatch, Lazy } from 'cdk8s';
import { cluster, objectOf } from '../../../test/clusters';
import type { Manifest } from '../../../test/synth';
import { changedFields, madeFrom, madeFromAnnotation } from '../../resource/made-from';
import type { EtcdClusterSpec } from '../../resource/types';

const sourceOf = ({ metadata }: Manifest): string => metadata.annotations[madeFromAnnotation];

describe('the StatefulSet says which spec it was made from', () => {
  const labels = { team: Lazy.any({ produce: () => 'a' }) as string };

  test('also where values of the construct are known at synthesis only', () => {
    const subject = cluster({ labels });
    const [statefulSet, { spec }] = [objectOf(subject, 'StatefulSet'), objectOf(subject, 'EtcdCluster')];
    expect(sourceOf(statefulSet)).toBe(madeFrom(spec));
    expect(changedFields(sourceOf(statefulSet), madeFrom({ ...spec, labels: { team: 'a' } }))).toEqual([]);
    expect(changedFields(sourceOf(statefulSet), madeFrom({ ...spec, labels: { team: 'b' } }))).toEqual(['labels']);
  });

  test('its pods do not, so nothing restarts', () => {
    const templateOf = (props: object) => objectOf(cluster(props), 'StatefulSet').spec.template;
    expect(templateOf({ annotations: { a: 'b' } })).toEqual(templateOf({}));
  });

  test('a patch of the resource is not a difference that an apply could remove', () => {
    const subject = cluster();
    ApiObject.of(subject).addJsonPatch(JsonPatch.add('/spec/protect', false));
    const { spec } = objectOf(subject, 'EtcdCluster');
    expect(spec.protect).toBe(false);
    expect(sourceOf(objectOf(subject, 'StatefulSet'))).toBe(madeFrom(spec));
  });
});

test('more external Services follow from more members', () => {
  const spec: EtcdClusterSpec = { version: '3.6.16', size: 3, externalServices: { type: 'LoadBalancer' } };
  expect(changedFields(madeFrom(spec), madeFrom({ ...spec, size: 5 }))).toEqual(['size']);
  expect(
    changedFields(madeFrom({ ...spec, externalServices: undefined }), madeFrom({ version: '3.6.16', size: 5 })),
  ).toEqual([]);
});
