import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NamedTls } from '../../../../src/tls/default-names.ts';
import { ApiClient } from '../../kube/api-client.ts';
import type { EventOf } from '../../kube/events.ts';
import type { Secret } from '../../kube/objects.ts';
import { Paths } from '../../kube/paths.ts';
import { createLog } from '../../lib/log.ts';
import { Queue } from '../../lib/queue.ts';
import { known } from '../../protocol/known.ts';
import { FakeApi, failure } from '../kubernetes/fake-api.fixture.ts';
import { defaultSettings } from '../port/settings.ts';
import { Certificates } from './certificates.ts';
import { textOf } from './read.ts';
import { tls } from './secrets.fixture.ts';

const paths = new Paths('shop');
const names = ['orders-peer-ca', 'orders-client-ca', 'orders-peer-tls', 'orders-server-tls', 'orders-client-tls'];
const [peerCa, clientCa, peerTls, serverTls] = names as [string, string, string, string];
const pathOf = (name: string) => paths.of('secrets', name);
const settings = { ...defaultSettings, backoffMin: 20, certificatesRetry: 50, certificates: 60_000 };

let api: FakeApi;
let client: ApiClient;
let queue: Queue;
let events: EventOf[];
let log: string[];
let points: string[];
let held: boolean;
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 10_000);
  queue = new Queue();
  [events, log, points, held] = [[], [], [], true];
});
afterEach(async () => {
  const stopped = queue.stop(60_000);
  api.closeConnections();
  await stopped;
  client.close();
  await api[Symbol.asyncDispose]();
});

const applied = (...which: string[]) => {
  for (const name of which) api.put(pathOf(name), { apiVersion: 'v1', kind: 'Secret' });
};

function start(
  change: object = {},
  spec: NamedTls = tls(),
  status?: Parameters<Certificates['follow']>[1],
): Certificates {
  const stderr = new Writable({
    write: (chunk, _, done) => {
      log.push(`${chunk}`);
      done();
    },
  });
  const certificates = new Certificates({
    ...{ client, paths, namespace: 'shop', name: 'orders', settings, log: createLog(stderr), onChange() {} },
    follow: queue.follow,
    at: (point) => {
      points.push(point);
      if (!held) throw new Error('another reconciler may hold the Lease');
    },
    emit: (event) => events.push(event),
    ...change,
  });
  certificates.follow({ tls: spec }, status);
  certificates.followUsers([]);
  certificates.run();
  return certificates;
}

async function until<T>(what: () => T): Promise<NonNullable<T>> {
  for (;;) {
    const found = what();
    if (found) return found;
    await sleep(5);
  }
}

const isGood = (certificates: Certificates) => () => {
  const report = certificates.report();
  return report?.certificates.length === 5 && report.problems.length === 0 && report.unread.length === 0;
};
const problem = (certificates: Certificates, reason: string) =>
  until(() => certificates.report()?.problems.find((each) => each.reason === reason)?.message);
const stored = (name: string, key: string) => textOf(api.object(pathOf(name)) as unknown as Secret, key);
const puts = () => api.requests.filter((request) => request.startsWith('PUT')).length;
const gets = () => api.requests.filter((request) => request.startsWith('GET')).length;

const refuse =
  (method: string, name: string, status: number, message: string): FakeApi['fault'] =>
  (request, response, path) => {
    if (request.method !== method || path !== pathOf(name)) return false;
    failure(response, status, 'Refused', message);
    return true;
  };

test('fills the five Secrets in order, with one event each, and then does nothing', async () => {
  applied(...names);
  const certificates = start();
  expect(certificates.report()).toMatchObject({ certificates: [], problems: [], unread: Array(5).fill({}) });
  await until(isGood(certificates));
  expect(api.requests.filter((request) => request.startsWith('PUT'))).toEqual(
    names.map((name) => `PUT ${pathOf(name)}`),
  );
  const order = ['PeerAuthority', 'ClientAuthority', 'PeerCertificate', 'ServerCertificate', 'ClientCertificate'];
  expect(points).toEqual(order.flatMap((what) => [`before Issue${what}`, `after Issue${what}`]));
  expect(events.map(({ reason }) => reason)).toEqual(Array(5).fill('CertificateIssued'));
  expect(events[2]!.message).toMatch(
    /^Wrote a certificate into Secret orders-peer-tls, valid until \S+Z: it was empty$/,
  );
  const before = gets();
  await sleep(300);
  expect(gets()).toBe(before);
  expect(events).toHaveLength(5);
});

test('nothing is written while the clocks differ, and everything once they agree', async () => {
  applied(...names);
  let ahead = 90 * 86_400_000;
  api.fault = (_, response) => {
    response.setHeader('date', new Date(Date.now() - ahead).toUTCString());
    return false;
  };
  const certificates = start();
  expect(await problem(certificates, 'ClockDiffers')).toMatch(/is 90 days ahead of that of the API server/);
  await sleep(100);
  expect(puts()).toBe(0);
  ahead = 0;
  await until(isGood(certificates));
});

test('a root is replaced as the members follow', async () => {
  applied(...names);
  const certificates = start();
  await until(isGood(certificates));
  const root = stored(peerCa, 'root.crt');
  certificates.follow({ tls: tls({ rootRotation: '2026-11' }) });
  expect(await problem(certificates, 'RotatingRoot')).toMatch(/: the members are unknown: they were not asked yet$/);
  expect(stored(peerCa, 'root.crt')).toBe(root);
  certificates.see(known([]));
  await until(() => stored(peerCa, 'root.crt') !== root);
  await until(() => certificates.report()?.problems.length === 1);
  expect(stored(peerTls, 'ca.crt')).toBe(stored(peerCa, 'root.crt'));
  // Its clients have an hour.
  expect(certificates.report()!.problems).toMatchObject([{ reason: 'RotatingRoot' }]);
  const rotating = ['BeginPeerRotation', 'BeginClientRotation', 'TrustPeerCertificate', 'EndPeerRotation'];
  for (const name of rotating) expect(points).toContain(`after ${name}`);
  expect(events.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(
      /^Wrote the next root as ca.crt into Secret orders-peer-tls, valid until \S+: every member has/,
    ),
  );
});

test('an authority that is made anew has revoked nothing of what the one before had', async () => {
  applied(...names);
  api.put(pathOf(peerCa), { metadata: { annotations: { 'cdk8s-etcd.dev/new-authority': 'yes' } } });
  const lost = { secret: peerCa, notAfter: '2030-01-01T00:00:00Z', root: '0123456789abcdef', revoked: ['40AA'] };
  const certificates = start({}, tls(), { certificates: [lost] });
  await until(isGood(certificates));
  expect(events).toHaveLength(5);
  expect(stored(peerCa, 'revoked-serials')).toBe('');
  expect(certificates.report()!.authorities.find(({ secret }) => secret === peerCa)!.revoked).toEqual([]);
});

describe('between two passes, which may be minutes apart', () => {
  const glancing = { settings: { ...settings, certificatesGlance: 10, certificatesRetry: 60_000, backoffMin: 60_000 } };

  test('a Secret that is deleted is missed, and filled when it is back', async () => {
    applied(...names);
    const certificates = start(glancing);
    await until(isGood(certificates));
    api.delete(pathOf(serverTls));
    expect(await problem(certificates, 'WaitingForSecrets')).toContain(`Secret ${serverTls} does not exist`);
    applied(serverTls);
    await until(isGood(certificates));
    expect(stored(serverTls, 'tls.crt')).not.toBe('');
  });

  test('an authority that is deleted is missed', async () => {
    applied(...names);
    const certificates = start(glancing);
    await until(isGood(certificates));
    api.delete(pathOf(clientCa));
    expect(await problem(certificates, 'AuthorityLost')).toMatch(
      /^Secret orders-client-ca does not exist, .*: apply the manifests .*writes the authority back; do not restart it/,
    );
    applied(clientCa);
    await until(isGood(certificates));
    expect(events.map(({ reason }) => reason)).toContain('AuthorityWrittenBack');
  });

  test('a reconciler that has started since does not promise to write it back', async () => {
    applied(...names);
    await until(isGood(start()));
    api.delete(pathOf(clientCa));
    expect(await problem(start(glancing), 'AuthorityLost')).toMatch(/: this reconciler does not know .* from a backup/);
  });

  test('a Secret that is emptied is filled', async () => {
    applied(...names);
    const certificates = start(glancing);
    await until(isGood(certificates));
    api.put(pathOf(peerTls), { data: {} });
    await until(() => stored(peerTls, 'tls.crt'));
  });

  test('a Secret of a user that is deleted is missed', async () => {
    applied(...names, 'of-api');
    // A change of what is wanted waits for more changes for 0.2 s.
    const certificates = start({ settings: { ...glancing.settings, certificatesGlance: 300 } });
    certificates.followUsers([{ secret: 'of-api', user: 'api', isAccepted: true }]);
    await until(() => certificates.ofUser('of-api')?.certificate);
    api.delete(pathOf('of-api'));
    const missed = await until(() => certificates.ofUser('of-api')?.problem);
    expect(missed.message).toContain('Secret of-api does not exist');
  });

  test('a right that is missing is noticed, and that it is back', async () => {
    applied(...names);
    const certificates = start(glancing);
    await until(isGood(certificates));
    api.fault = refuse('GET', clientCa, 403, 'forbidden');
    await until(() => certificates.report()?.unread.length === 1);
    api.fault = () => false;
    await until(isGood(certificates));
  });

  // The fake one answers with whole objects, whatever it is asked for; Kubernetes leaves out the data.
  test('that costs five reads of metadata, which need not come from etcd, and no other request', async () => {
    applied(...names);
    const asked: string[] = [];
    const certificates = start(glancing);
    await until(isGood(certificates));
    // One look may be under way.
    const before = api.requests.length;
    api.fault = (request) => {
      asked.push(`${request.headers.accept} ${request.url}`);
      return false;
    };
    await until(() => asked.length >= 20);
    const count = (name: string) => api.requests.slice(before).filter((each) => each === `GET ${pathOf(name)}`).length;
    const [least, most] = [Math.min(...names.map(count)), Math.max(...names.map(count))];
    expect([most - least <= 1, names.reduce((sum, name) => sum + count(name), 0)]).toEqual([true, asked.length]);
    for (const each of asked) expect(each).toMatch(/as=PartialObjectMetadata;.*[?]resourceVersion=0$/);
  });
});

test('old reports of members do not count', async () => {
  applied(...names);
  const certificates = start({ settings: { ...settings, unreachable: 1 } });
  await until(isGood(certificates));
  certificates.follow({ tls: tls({ rootRotation: '2026-11' }) });
  certificates.see(known([]));
  await sleep(20);
  expect(await problem(certificates, 'RotatingRoot')).toMatch(/: they did not answer lately$/);
});

test('at rest each pass costs five reads, and no other request', async () => {
  applied(...names);
  const certificates = start({ settings: { ...settings, certificates: 1 } });
  await until(isGood(certificates));
  const before = api.requests.length;
  await until(() => api.requests.length >= before + 10);
  const looks = api.requests.slice(before, before + 10);
  expect(looks.toSorted()).toEqual(names.flatMap((name) => Array(2).fill(`GET ${pathOf(name)}`)).sort());
});

test('a requested renewal happens at once, and is reported', async () => {
  applied(...names);
  const certificates = start();
  await until(isGood(certificates));
  const [root, leaf] = [stored(peerCa, 'root.crt'), stored(peerTls, 'tls.crt')];
  certificates.follow({ tls: tls({ intermediateRotation: 'monday' }) });
  await until(() => events.length === 10);
  expect(puts()).toBe(10);
  expect(stored(peerCa, 'root.crt')).toBe(root);
  expect(stored(peerTls, 'tls.crt')).not.toBe(leaf);
  expect(events.slice(5).map(({ reason }) => reason)).toEqual(Array(5).fill('CertificateRenewed'));
  expect(events[5]!.message).toContain("intermediateRotation is 'monday'");
});

test('keeps labels and other keys of a Secret', async () => {
  applied(...names);
  api.put(pathOf(peerTls), { type: 'Opaque', metadata: { labels: { team: 'a' } }, data: { note: 'eA==' } });
  await until(isGood(start()));
  expect(api.object(pathOf(peerTls))).toMatchObject({
    type: 'Opaque',
    metadata: { labels: { team: 'a' } },
    data: { note: 'eA==', 'tls.key': expect.any(String) },
  });
});

describe('reports the problem, and retries', () => {
  test('a Secret that does not exist yet', async () => {
    applied(...names.slice(1));
    const certificates = start();
    expect(await problem(certificates, 'WaitingForSecrets')).toContain(`Secret ${peerCa} does not exist`);
    applied(peerCa);
    await until(isGood(certificates));
  });

  test('a Secret that may not be read', async () => {
    applied(...names);
    api.fault = refuse('GET', clientCa, 403, 'forbidden');
    const certificates = start();
    const [{ secret, why }] = await until(
      () => certificates.report()?.looked && (certificates.report()!.unread as [{ secret: string; why: string }]),
    );
    expect([secret, why]).toEqual([clientCa, expect.stringContaining('a permission is missing')]);
    expect(certificates.report()?.goodAge).toBeUndefined();
    api.fault = () => false;
    await until(isGood(certificates));
  });

  test('a Secret that may not be written: the others are written', async () => {
    applied(...names);
    api.fault = refuse('PUT', peerCa, 403, 'forbidden');
    const certificates = start();
    expect(await problem(certificates, 'CannotWrite')).toMatch(`Secret ${peerCa} cannot be written: PUT`);
    expect(stored(serverTls, 'tls.crt')).not.toBe('');
    api.fault = () => false;
    await until(isGood(certificates));
  });

  test('after a conflict the Secret is read again once, without a report', async () => {
    applied(...names);
    let conflicts = 1;
    api.fault = (request, response) => {
      if (request.method !== 'PUT' || conflicts-- <= 0) return false;
      failure(response, 409, 'Conflict', 'the object has been modified');
      return true;
    };
    await until(isGood(start()));
    expect(log.join('')).not.toContain('cannot be written');
    conflicts = 2;
    api.delete(pathOf(peerTls));
    applied(peerTls);
    const certificates = start();
    expect(await problem(certificates, 'CannotWrite')).toContain('changed by somebody else at the same time');
    await until(isGood(certificates));
  });

  test('an API server that hangs', async () => {
    applied(...names);
    api.fault = () => true;
    const impatient = new ApiClient(api.access, 300);
    const certificates = start({ client: impatient });
    const unread = await until(() => certificates.report()?.looked && certificates.report()?.unread);
    expect(unread.map(({ secret }) => secret)).toEqual(names);
    expect(unread[0]!.why).toContain('no answer in 300 ms');
    api.fault = () => false;
    await until(isGood(certificates));
    impatient.close();
  });

  test('the last known state stays, with its age, while nothing can be read', async () => {
    applied(...names);
    const certificates = start();
    await until(isGood(certificates));
    stored(peerCa, 'root.key');
    api.fault = (_, response) => {
      failure(response, 503, 'Unavailable', 'down');
      return true;
    };
    certificates.follow({ tls: tls({ serverNames: ['etcd.example.com'] }) });
    await until(() => certificates.report()?.unread.length === 5);
    await sleep(30);
    expect(certificates.report()!.goodAge).toBeGreaterThan(30);
    expect(certificates.report()!.goodAge).toBeGreaterThan(certificates.report()!.looked!.age);
  });

  test('a problem of the last complete pass is kept when the next one fails', async () => {
    applied(...names);
    const certificates = start();
    await until(isGood(certificates));
    const { data } = api.object<{ data: object }>(pathOf(peerCa))!;
    api.put(pathOf(peerCa), { data: { ...data, 'root.key': 'eA==' } });
    certificates.follow({ tls: tls({ intermediateRotation: 'now' }) });
    await problem(certificates, 'AuthorityInvalid');
    api.fault = refuse('GET', peerCa, 403, 'forbidden');
    await until(() => certificates.report()?.unread.length === 1);
    expect(await problem(certificates, 'AuthorityInvalid')).toContain('root.key is not a key');
  });
});

test('a lost answer changes nothing', async () => {
  applied(...names);
  let lost = 0;
  const put = api.put.bind(api);
  api.put = (path, object) => {
    const done = put(path, object);
    // Written, but the connection ends before the answer.
    if (lost++ < 3) api.closeConnections();
    return done;
  };
  const certificates = start();
  await until(isGood(certificates));
  expect(puts()).toBe(5);
});

describe('all five Secrets are emptied', () => {
  const empty = () => {
    for (const name of names) api.put(pathOf(name), { data: {} });
  };
  const kick = (certificates: Certificates, status: Parameters<Certificates['follow']>[1] = {}) =>
    certificates.follow({ tls: tls({ intermediateRotation: `${Math.random()}` }) }, status);

  test('a reconciler that saw the authorities writes them back, and issues the rest anew', async () => {
    applied(...names);
    const certificates = start();
    await until(isGood(certificates));
    const authorities = certificates.report()!.authorities;
    const data = [peerCa, clientCa].map((name) => api.object<Secret>(pathOf(name))!.data);
    for (const _ of [1, 2]) {
      empty();
      // An old status without roots changes nothing.
      kick(certificates, { certificates: [] });
      await until(() => stored(serverTls, 'tls.crt') && stored('orders-client-tls', 'tls.crt'));
      await until(isGood(certificates));
      // What issues the rest is of the intermediate, which the kick renews.
      expect(stored(serverTls, 'ca.crt')).toBe(Buffer.from(data[1]!['root.crt']!, 'base64').toString());
    }
    expect(certificates.report()!.authorities.map(({ root }) => root)).toEqual(authorities.map(({ root }) => root));
    expect(events.filter(({ reason }) => reason === 'AuthorityWrittenBack')).toHaveLength(4);
  });

  test('another authority is made only on request', async () => {
    applied(...names);
    const certificates = start();
    await until(isGood(certificates));
    const { authorities } = certificates.report()!;
    const annotations = { 'cdk8s-etcd.dev/new-authority': 'yes' };
    for (const name of names) api.put(pathOf(name), { metadata: { annotations }, data: {} });
    kick(certificates);
    await until(() => certificates.report()!.authorities[0]!.root !== authorities[0]!.root);
    await until(isGood(certificates));
    expect(api.object<Secret>(pathOf(peerCa))!.metadata.annotations).toEqual({});
  });

  test('what was asked to be replaced is not written back, also if a tool takes the request away', async () => {
    applied(...names);
    const certificates = start();
    await until(isGood(certificates));
    const annotations = { 'cdk8s-etcd.dev/new-authority': 'yes' };
    const { data } = api.object<Secret>(pathOf(peerCa))!;
    api.put(pathOf(peerCa), { metadata: { annotations }, data });
    // Renews the intermediate, which is not an answer to the request.
    kick(certificates);
    await until(() => stored(peerCa, 'tls.crt') !== Buffer.from(data!['tls.crt']!, 'base64').toString());
    expect(api.object<Secret>(pathOf(peerCa))!.metadata.annotations).toEqual(annotations);
    await until(isGood(certificates));
    for (const name of [peerCa, peerTls]) api.put(pathOf(name), { metadata: { annotations: {} }, data: {} });
    kick(certificates);
    expect(await problem(certificates, 'AuthorityLost')).toContain(peerCa);
  });

  test('one that something empties again at once is written back a few times, and that is reported', async () => {
    applied(...names);
    const certificates = start();
    await until(isGood(certificates));
    const put = api.put.bind(api);
    api.put = (path, object) => put(path, path === pathOf(peerCa) ? { ...object, data: {} } : object);
    put(pathOf(peerCa), { data: {} });
    const before = puts();
    kick(certificates);
    expect(await problem(certificates, 'CannotWrite')).toMatch(/orders-peer-ca .*6 times within an hour/);
    expect(puts() - before).toBeLessThan(10);
  });

  test('nothing is written back while the reconciler is paused', async () => {
    applied(...names);
    const certificates = start();
    await until(isGood(certificates));
    empty();
    certificates.follow({ tls: tls({ intermediateRotation: 'x' }), paused: true });
    expect(await problem(certificates, 'AuthorityLost')).toContain(peerCa);
    expect(stored(peerCa, 'root.crt')).toBe('');
  });

  test('the next reconciler knows them from the status', async () => {
    applied(...names);
    const status = {
      certificates: [
        { secret: clientCa, notAfter: '2026-01-01T00:00:00Z', root: 'abcd' },
        { secret: serverTls, notAfter: '', root: 'x' },
      ],
    };
    const certificates = start({}, tls(), status);
    expect(await problem(certificates, 'AuthorityLost')).toContain(
      `Secret ${clientCa} is empty, but held the root abcd`,
    );
    expect(await until(() => stored(peerTls, 'tls.crt'))).toBeTruthy();
    expect(stored(clientCa, 'root.crt')).toBe('');
  });
});

test('two concurrent reconcilers end with one root for each authority, and nothing left to do', async () => {
  applied(...names);
  const both = [start(), start()];
  await Promise.all(both.map((each) => until(isGood(each))));
  const before = puts();
  const roots = [stored(peerCa, 'root.crt'), stored(clientCa, 'root.crt')];
  expect([stored(peerTls, 'ca.crt'), stored(serverTls, 'ca.crt')]).toEqual(roots);
  await Promise.all([start(), start()].map((each) => until(isGood(each))));
  expect(puts()).toBe(before);
});

test('what is asked for often is done as often', async () => {
  applied(...names);
  const certificates = start();
  await until(isGood(certificates));
  for (const intermediateRotation of '123456') {
    const before = stored(serverTls, 'tls.crt');
    certificates.follow({ tls: tls({ intermediateRotation }) });
    await until(() => stored(serverTls, 'tls.crt') !== before && isGood(certificates)());
  }
  expect(certificates.report()!.problems).toEqual([]);
});

test('a Secret that something else keeps rewriting is not rewritten forever', async () => {
  applied(...names);
  const certificates = start();
  await until(isGood(certificates));
  const put = api.put.bind(api);
  // For example another reconciler that empties it.
  api.put = (path, object) => put(path, path === pathOf(peerTls) ? { ...object, data: {} } : object);
  put(pathOf(peerTls), { data: {} });
  certificates.follow({ tls: tls({ serverNames: ['etcd.example.com'] }) });
  expect(await problem(certificates, 'CannotWrite')).toMatch(/orders-peer-tls .*6 times within an hour.*find out what/);
  const before = puts();
  await sleep(300);
  expect(puts()).toBe(before);
});

test('without the Lease nothing is written', async () => {
  applied(...names);
  held = false;
  const certificates = start();
  expect(await problem(certificates, 'CannotWrite')).toContain('another reconciler may hold the Lease');
  expect(puts()).toBe(0);
});

test('ends when it is stopped, even if nothing answers', async () => {
  applied(...names);
  api.fault = () => true;
  start();
  await until(() => gets() > 0);
  const stopped = queue.stop(60_000);
  api.closeConnections();
  await stopped;
  const before = gets();
  await sleep(100);
  expect(gets()).toBe(before);
  expect(puts()).toBe(0);
});

test('without spec.tls.managed there is nothing to do or to report', async () => {
  const certificates = start({}, { peerSecret: 'p', serverSecret: 's', clientSecret: 'x' });
  await sleep(100);
  expect(certificates.report()).toBeUndefined();
  expect(gets()).toBe(0);
});

test('no key is in a log, an event, an error or a report', async () => {
  applied(...names);
  // An admission webhook that quotes what it refuses.
  let refused = 0;
  api.fault = (request, response) => {
    if (request.method !== 'PUT' || refused++ >= 2) return false;
    const { data = {} } = api.bodies.at(-1) as Secret;
    const pem = Object.values(data).map((value) => Buffer.from(value, 'base64').toString());
    const quote = refused === 1 ? JSON.stringify(data) : pem.join();
    failure(response, 400, 'Denied', `admission webhook denied: ${quote}`);
    return true;
  };
  const certificates = start();
  const said = [await problem(certificates, 'CannotWrite')];
  expect(said[0]).toContain('words that quote its secrets');
  await until(isGood(certificates));
  // Contents that no parser takes.
  for (const name of [peerCa, serverTls]) {
    const { data } = api.object<{ data: Record<string, string> }>(pathOf(name))!;
    const changed = Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(`x${textOf({ data: { key: value } } as never, 'key')}`.replace('PRIVATE', 'PUBLIC')).toString(
        'base64',
      ),
    ]);
    api.put(pathOf(name), { data: Object.fromEntries(changed) });
  }
  certificates.follow({ tls: tls({ intermediateRotation: 'now' }) });
  said.push(await problem(certificates, 'AuthorityInvalid'));
  const everything = [...said, ...log, JSON.stringify(events), JSON.stringify(certificates.report()), ...points].join(
    '\n',
  );
  const secrets = api.bodies.filter((body) => (body as Secret | undefined)?.kind === 'Secret') as Secret[];
  const keys = secrets.flatMap(({ data = {} }) => Object.entries(data).filter(([name]) => name.endsWith('.key')));
  expect(keys.length).toBeGreaterThan(8);
  for (const [, key] of keys) {
    const lines = Buffer.from(key, 'base64').toString().split('\n');
    const body = lines.filter((line) => line !== '' && !line.startsWith('-----'));
    expect(body.length).toBeGreaterThan(1);
    for (const text of [key, ...body]) {
      for (let at = 0; at + 16 <= text.length; at += 8) expect(everything).not.toContain(text.slice(at, at + 16));
    }
  }
  expect(everything).not.toContain('PRIVATE KEY');
});
