import { Chart, Testing } from 'cdk8s';
import { EtcdCluster } from '../cluster/etcd-cluster';
import type { EtcdClusterProps } from '../cluster/etcd-cluster-props';
import { newestPatches, oldestPatches } from '../lib/defaults';
import { onNotice } from '../lib/notices';
import { adviceOn, advisories, advisoriesAsOf, advisoriesFor, authorizationProblem, firstWithout } from './advisories';
import { EtcdVersion } from './etcd-version';

const idsOf = (version: string) => advisoriesFor(version).map(({ id }) => id);

test.each(Object.values(newestPatches))('the newest patch %s has no advisory', (version) => {
  expect(idsOf(version)).toEqual([]);
});

test.each([
  ['3.7.0', ['CVE-2026-73499', 'CVE-2026-73500']],
  ['3.7.1', []],
  ['3.6.11', ['CVE-2026-73499', 'CVE-2026-73500', 'CVE-2026-59818']],
  ['3.6.13', ['CVE-2026-73499', 'CVE-2026-73500']],
  ['3.6.14', []],
  ['3.5.28', ['CVE-2026-73499', 'CVE-2026-44283', 'CVE-2026-73500', 'CVE-2026-59818']],
  ['3.5.33', []],
  // A minor without a patch for it.
  ['3.4.44', ['CVE-2026-73499', 'CVE-2026-73500', 'CVE-2026-59818']],
  ['3.3.27', advisories.map(({ id }) => id)],
  ['3.8.0', []],
  // Spellings of others.
  ['v3.6.13', ['CVE-2026-73499', 'CVE-2026-73500']],
  ['3.6.13-0', ['CVE-2026-73499', 'CVE-2026-73500']],
  ['v3.6.14-0', []],
])('%s', (version, ids) => {
  expect(idsOf(version)).toEqual(ids);
});

test.each(['3.6', '', 'latest', '3.6.14-rc.0', '3.8.0-alpha.0', '3.6.x'])('%j is not a release', (version) => {
  expect(advisoriesFor(version)).toEqual(advisories);
  expect(authorizationProblem(version)).toBe(
    `etcd '${version}' is not a released version, so it may have every known vulnerability; use one such as 3.6.14`,
  );
});

test('the version to use instead has none of them', () => {
  for (const version of Object.values(oldestPatches)) {
    const instead = firstWithout(advisoriesFor(version), version)!;
    expect(idsOf(instead)).toEqual([]);
    expect(adviceOn(advisoriesFor(version), version)).toContain(`use ${instead} or newer`);
  }
  expect(adviceOn(advisoriesFor('3.4.44'), '3.4.44')).toContain('has no fix: upgrade to a newer one');
});

test('the list is dated, and each entry is complete', () => {
  expect(advisoriesAsOf).toMatch(/^\d{4}-\d\d-\d\d$/);
  for (const { id, harm, fixedIn } of advisories) {
    expect(id).toMatch(/^CVE-\d{4}-\d+$/);
    expect(harm).not.toBe('');
    expect(Object.keys(fixedIn).length).toBeGreaterThan(0);
  }
});

describe('at synthesis', () => {
  const build = (version: string, props: EtcdClusterProps = {}) => {
    const chart = new Chart(Testing.app(), 'shop', { namespace: 'shop' });
    const told: string[] = [];
    onNotice(chart.node.root, (message) => message.includes('vulnerabilities') && told.push(message));
    const cluster = new EtcdCluster(chart, 'orders', { version: EtcdVersion.of(version), ...props });
    return { cluster, told };
  };
  const problem = 'a user that may read one key can watch all keys after it (CVE-2026-73499); use 3.6.14 or newer';

  test('a version with a hole in authorization is refused for users and auth, and a newer one is not', () => {
    const { cluster } = build('3.6.13');
    expect(cluster.addUser('api', { can: [] }).node.validate()).toEqual([expect.stringContaining(problem)]);
    const { cluster: asked } = build('3.6.13', { auth: true });
    expect(asked.node.validate()).toEqual([expect.stringMatching(/^auth: etcd 3\.6\.13 has known vulnerabilities/)]);
    for (const version of ['3.5.33', '3.6.14', '3.7.1']) {
      const { cluster: safe, told } = build(version, { auth: true });
      expect([...safe.addUser('api', { can: [] }).node.validate(), ...safe.node.validate(), ...told]).toEqual([]);
    }
  });

  test('without users it is accepted, with a notice', () => {
    const { cluster, told } = build('3.7.0');
    expect(cluster.node.validate()).toEqual([]);
    cluster.node.validate();
    expect(told).toEqual([
      expect.stringMatching(/^etcd 3\.7\.0 has known vulnerabilities: .*CVE-2026-73500\); use 3\.7\.1 or newer/),
    ]);
  });
});
