import { spawnSync } from 'node:child_process';
import type { MemberFlags } from './member-flags.ts';
import { type PlanRequest, planSteps, planText, quoted } from './plan.ts';

const member = (n: number) => ({ name: `cp${n}`, peerUrls: [`https://10.0.0.${n}:2380`] });
const plan = (size: number, more: Partial<PlanRequest> = {}): PlanRequest => ({
  id: 'snap-1',
  createdAt: '2026-11-22T01:00:00Z',
  revision: 7,
  sourceClusterId: 'abc',
  members: Array.from({ length: size }, (_, n) => member(n + 1)),
  token: 'restored-1',
  bump: 1_000_000_000,
  initialCluster: 'cp1=https://10.0.0.1:2380',
  leftOut: [],
  node: {
    kind: 'static-pod',
    source: '/etc/kubernetes/manifests/etcd.yaml',
    dataDir: '/var/lib/etcd',
    member: {
      name: 'cp1',
      dataDir: '/var/lib/etcd',
      clientTls: { cert: '/etc/kubernetes/pki/etcd/server.crt' },
      peerTls: {},
    } as MemberFlags,
  },
  manifestsDir: '/etc/kubernetes/manifests',
  journalDir: '/etc/kubernetes',
  flags: ['--store=s3://x', '--cluster=kubernetes'],
  files: ['/etc/etcd-restore/stores/0'],
  image: 'registry/etcd-agent:1',
  ...more,
});
const restore = 'etcd-agent restore control-plane snap-1 --store=s3://x --cluster=kubernetes';
const at = (request: PlanRequest) => planSteps(request).map(({ node, commands }) => [node, commands.at(-1)]);

test('one node', () => {
  expect(at(plan(1)).slice(1)).toEqual([
    ['cp1', restore],
    ['cp1', 'systemctl restart kubelet'],
    ['cp1', 'etcd-agent restore control-plane --verify'],
  ]);
  expect(planText(plan(1))).toMatch(/^2\. On cp1 \(10\.0\.0\.1\): fetch and verify/m);
});

test('three nodes: all are out before the first is restored', () => {
  const commands = at(plan(3));
  expect(commands.slice(1, 7)).toEqual([
    ...['cp1', 'cp2', 'cp3'].map((node) => [node, `${restore} --stop`]),
    ...['cp1', 'cp2', 'cp3'].map((node) => [node, restore]),
  ]);
});

test('the agent is run with what it needs of the host, and no more', () => {
  const [, command] = at(plan(1))[0]!;
  expect(command).toMatch(
    /ctr -n k8s\.io run .*--net-host --with-ns pid:\/proc\/1\/ns\/pid .* registry\/etcd-agent:1 /,
  );
  const mounts = Array.from(command!.matchAll(/src=([^,]+),dst=[^,]+,options=rbind:(\w+)/g), ([, path, mode]) => [
    path,
    mode,
  ]);
  expect(mounts).toEqual([
    ['/etc/kubernetes', 'rw'],
    ['/var/lib/etcd', 'rw'],
    ['/etc/etcd-restore/stores/0', 'ro'],
    ['/var/log/pods', 'ro'],
  ]);
});

test('the image is found by its name, whatever registry it is from', () => {
  const [, command] = at(plan(1, { image: undefined as never }))[0]!;
  const [, pattern] = /grep -m1 '([^']+)'/.exec(command!) ?? [];
  for (const name of ['ghcr.io/cdk8s-etcd/agent:0.1.0', 'registry.example.com/etcd-agent:1']) {
    expect(name).toMatch(new RegExp(pattern!));
  }
});

test('the function ends as the agent ends, and leaves no container', () => {
  const [, command] = at(plan(1))[0]!;
  const ctr = 'ctr() { echo "$*"; case "$*" in *"tasks exec"*) return 40;; *"tasks rm"*) return 137;; esac; }';
  const { status, stdout } = spawnSync('bash', ['-ec', `${ctr}\n${command}\netcd-agent list 'a b'`], {
    encoding: 'utf8',
  });
  expect(status).toBe(40);
  const lines = stdout.trim().split('\n');
  const [, name] = / (etcd-restore-\d+-\d+) \S+node .*etcd-agent\.mjs keep-image$/.exec(lines[0]!)!;
  expect(lines[1]).toMatch(/^-n k8s\.io tasks exec --user 0:0 .*etcd-agent\.mjs list a b$/);
  expect(lines.slice(2)).toEqual([`-n k8s.io containers rm ${name}`]);
});

test('etcd outside the kubelet is stopped and started by hand', () => {
  const request = plan(1);
  const text = planText({ ...request, node: { ...request.node, kind: 'systemd' } });
  expect(text).toMatch(/stop etcd \(`systemctl stop etcd`\).*start etcd \(`systemctl start etcd`\)/);
});

test('a member that joined after the snapshot is told of', () => {
  expect(planText(plan(1, { leftOut: ['10.0.0.9'] }))).toMatch(/^1\. On 10\.0\.0\.9, which is no member/m);
});

test('quotes', () => {
  expect(quoted("a'b")).toBe(`'a'\\''b'`);
  expect(quoted('s3://b/p')).toBe('s3://b/p');
  expect(quoted('{"a":1}')).toBe(`'{"a":1}'`);
});
