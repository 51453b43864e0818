import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { errorLike } from '../../../test/support/error-like.ts';
import { refuseOtherNode } from './local-address.ts';
import { readNode, versionIn } from './node.ts';
import { refuseOwnProcessNamespace } from './processes.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'node-'));
});
afterEach(() => rm(root, { recursive: true }));

const kubeadm = {
  apiVersion: 'v1',
  kind: 'Pod',
  spec: {
    containers: [
      {
        name: 'etcd',
        image: 'registry.k8s.io/etcd:3.6.5-0',
        command: [
          'etcd',
          '--name=cp1',
          '--data-dir=/var/lib/etcd',
          '--initial-advertise-peer-urls=https://10.0.0.1:2380',
          '--initial-cluster=cp1=https://10.0.0.1:2380',
          '--listen-peer-urls=https://10.0.0.1:2380',
          '--listen-client-urls=https://127.0.0.1:2379,https://10.0.0.1:2379',
          '--listen-metrics-urls=http://127.0.0.1:2381',
          '--peer-cert-file=/etc/kubernetes/pki/etcd/peer.crt',
          '--cert-file=/etc/kubernetes/pki/etcd/server.crt',
        ],
        volumeMounts: [
          { name: 'data', mountPath: '/var/lib/etcd' },
          { name: 'certs', mountPath: '/etc/kubernetes/pki/etcd' },
        ],
        securityContext: { runAsUser: 1001 },
      },
    ],
    volumes: [
      { name: 'data', hostPath: { path: '/disk/etcd' } },
      { name: 'certs', hostPath: { path: '/etc/kubernetes/pki/etcd' } },
    ],
  },
};
const manifest = (content: unknown) => writeFile(join(root, 'etcd.yaml'), stringify(content));

test("kubeadm's manifest contains all settings, with paths on the host", async () => {
  await manifest(kubeadm);
  const node = await readNode({ manifestsDir: root });
  expect(node).toMatchObject({ kind: 'static-pod', version: '3.6.5', uid: 1001, dataDir: '/var/lib/etcd' });
  expect(node.member).toMatchObject({
    name: 'cp1',
    dataDir: '/disk/etcd',
    peerUrls: 'https://10.0.0.1:2380',
    metricsUrls: ['http://127.0.0.1:2381'],
    clientTls: { cert: '/etc/kubernetes/pki/etcd/server.crt' },
    peerTls: { cert: '/etc/kubernetes/pki/etcd/peer.crt' },
  });
});

test('the flags of another node are refused by their addresses', async () => {
  await manifest(kubeadm);
  const node = await readNode({ manifestsDir: root });
  expect(() => refuseOtherNode(node, new Set(['127.0.0.1', '10.0.0.2']))).toThrow(
    /flags belong to another node: cp1 listens on 10.0.0.1/,
  );
  refuseOtherNode(node, new Set(['10.0.0.1']));
});

test.each([
  ['no YAML', ': - {', /does not define a Pod/],
  ['no Pod', 'kind: Deployment', /does not define a Pod/],
  ['no etcd', { ...kubeadm, spec: { containers: [{ name: 'nginx' }] } }, /no container 'etcd'/],
  [
    'a shell',
    { ...kubeadm, spec: { containers: [{ name: 'etcd', command: ['sh', '-c', 'etcd'] }] } },
    /the command is sh/,
  ],
])('%s: not a kubeadm manifest', async (_, content, message) => {
  await (typeof content === 'string' ? writeFile(join(root, 'etcd.yaml'), content) : manifest(content));
  await expect(readNode({ manifestsDir: root })).rejects.toThrow(message);
});

const plain = stringify(kubeadm);
const changed = (change: (container: Record<string, unknown>, spec: Record<string, unknown>) => void): string => {
  const copy = structuredClone(kubeadm);
  change(copy.spec.containers[0] as unknown as Record<string, unknown>, copy.spec);
  return stringify(copy);
};
const withEnv = (env: unknown, from: string, to: string) =>
  changed((container) => {
    container.env = env;
    container.command = (container.command as string[]).map((word) => word.replace(from, to));
  });

test.each([
  ['a last line of dashes', `${plain}---\n`],
  ['dashes before and after', `---\n${plain}\n---\n`],
  ['a second document, which the kubelet ignores', `${plain}---\nkind: [\n`],
  [
    'fields without a value',
    changed((container) => Object.assign(container, { args: null, env: null, workingDir: null })),
  ],
  [
    'a user without a value',
    changed((container) => Object.assign(container, { securityContext: { runAsUser: null } })),
  ],
  [
    'variables, also of variables',
    withEnv(
      [
        { name: 'HOST', value: 'cp' },
        { name: 'NODE', value: '$(HOST)1' },
      ],
      '=cp1',
      '=$(NODE)',
    ),
  ],
  [
    'variables that nobody needs',
    withEnv([{ name: 'X', valueFrom: { fieldRef: {} } }], '--listen-metrics', '--x=$(X) --listen-metrics'),
  ],
])('the kubelet starts a manifest with %s', async (_, text) => {
  await writeFile(join(root, 'etcd.yaml'), text);
  const { member } = await readNode({ manifestsDir: root });
  expect([member.name, member.dataDir]).toEqual(['cp1', '/disk/etcd']);
});

test.each([
  ['a folder of a volume', { subPath: 'a/b' }, '/disk/etcd/a/b'],
  ['a folder that a variable names', { subPathExpr: 'of-$(NODE)' }, '/disk/etcd/of-cp1'],
])('%s is mounted', async (_, more, dataDir) => {
  const mount = (container: Record<string, unknown>) => {
    container.env = [{ name: 'NODE', value: 'cp1' }];
    Object.assign((container.volumeMounts as object[])[0]!, more);
  };
  await writeFile(join(root, 'etcd.yaml'), changed(mount));
  expect((await readNode({ manifestsDir: root })).member.dataDir).toBe(dataDir);
});

test.each([
  [
    '=cp1',
    '=$(NODE)',
    [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    /--name is \$\(NODE\)/,
  ],
  ['=/var/lib/etcd', '=/var/lib/$(WHERE)', [], /--data-dir is \/var\/lib\/\$\(WHERE\)/],
  ['--name=cp1', '--logger=zap', [{ name: 'ETCD_NAME', valueFrom: {} }], /--name is \$\(ETCD_NAME\)/],
])('a value that only the kubelet knows is refused: %s as %s', async (from, to, env, message) => {
  await writeFile(join(root, 'etcd.yaml'), withEnv(env, from, to));
  await expect(readNode({ manifestsDir: root })).rejects.toThrow(message);
});

test('--data-dir does not change where the static Pod has its data', async () => {
  await writeFile(join(root, 'etcd.yaml'), plain);
  for (const dataDir of ['/disk/etcd', '/var/lib/etcd', '/disk/etcd/']) {
    expect((await readNode({ manifestsDir: root, dataDir })).member.dataDir).toBe('/disk/etcd');
  }
  await expect(readNode({ manifestsDir: root, dataDir: '/elsewhere' })).rejects.toThrow(
    errorLike(/^the data of .*etcd\.yaml are in \/disk\/etcd, not in \/elsewhere$/, {
      ...{ at: 'dataDir', finding: { kind: 'dataElsewhere' } },
    }),
  );
});

test('of several descriptions of etcd one must be chosen', async () => {
  await expect(readNode({ manifestsDir: root, unit: 'a', configFile: 'b' })).rejects.toThrow(
    errorLike('several files say how etcd is started', {
      finding: { kind: 'severalSources', settings: ['etcdUnit', 'etcdConfigFile'] },
    }),
  );
});

describe('a left-over --force-new-cluster is refused: each start would remove the other members', () => {
  const withFlag = (...flags: string[]) => {
    const [container] = kubeadm.spec.containers;
    const command = [...container!.command, ...flags];
    return manifest({ ...kubeadm, spec: { ...kubeadm.spec, containers: [{ ...container, command }] } });
  };
  const refused = /--force-new-cluster, .*remove it/;

  test.each(['--force-new-cluster', '--force-new-cluster=true', '-force-new-cluster=1'])('%s', async (flag) => {
    await withFlag(flag);
    await expect(readNode({ manifestsDir: root })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(refused),
    });
  });

  test('in the environment or a config file', async () => {
    const file = join(root, 'etcd');
    await writeFile(file, 'ETCD_DATA_DIR=/data\nETCD_FORCE_NEW_CLUSTER=true\n');
    await expect(readNode({ manifestsDir: root, environmentFile: file })).rejects.toThrow(refused);
    await writeFile(file, 'data-dir: /data\nforce-new-cluster: true\n');
    await expect(readNode({ manifestsDir: root, configFile: file })).rejects.toThrow(refused);
  });

  test('but not when it is switched off', async () => {
    await withFlag('--force-new-cluster=true', '--force-new-cluster=false');
    expect((await readNode({ manifestsDir: root })).member.name).toBe('cp1');
  });
});

test('a write-ahead log in its default place is not separate; another place inside the member is refused', async () => {
  const env = join(root, 'etcd.env');
  const read = async (walDir: string) => {
    await writeFile(env, `ETCD_DATA_DIR=/srv/etcd\nETCD_WAL_DIR=${walDir}\n`);
    return (await readNode({ manifestsDir: root, environmentFile: env })).member.walDir;
  };
  expect(await read('/srv/etcd/member/wal/')).toBeUndefined();
  expect(await read('/srv/etcd/wal')).toBe('/srv/etcd/wal');
  for (const inside of ['/srv/etcd/member', '/srv/etcd/member/wal/own']) {
    await expect(read(inside)).rejects.toThrow(/--wal-dir \S+ is inside \/srv\/etcd\/member, which a restore replaces/);
  }
});

test('a unit that starts etcd from a shell is refused', async () => {
  const unit = join(root, 'etcd.service');
  await writeFile(unit, '[Service]\nExecStart=-/bin/bash -c "exec etcd --data-dir=/srv/etcd"\n');
  await expect(readNode({ manifestsDir: root, unit })).rejects.toThrow(/starts etcd from a shell \(\/bin\/bash\)/);
});

test.each([
  [
    '/usr/bin/docker run -v /srv/etcd:/etcd-data etcd:3.6 etcd --data-dir=/etcd-data',
    /in a container .*\(\/usr\/bin\/docker\)/,
  ],
  ['podman run --net=host etcd etcd --data-dir=/d', /in a container .*\(podman\)/],
  ['/usr/bin/nice -n 5 /usr/bin/podman run etcd', /in a container .*\(\/usr\/bin\/podman\)/],
  ['/usr/bin/nsenter -t 1 -m /usr/bin/etcd --data-dir=/d', /starts \/usr\/bin\/nsenter, not etcd/],
  ['/usr/lib/coreos/etcd-wrapper --data-dir=/d', /starts \S+etcd-wrapper, not etcd/],
  ['/usr/bin/etcd --data-dir=/d\nRootDirectory=/srv/root', /a root of its own \(\/srv\/root\)/],
  ['/usr/bin/etcd --data-dir=/d\nRootImage=/srv/image.raw', /a root of its own/],
])('a unit that starts something else, or elsewhere, is refused: %s', async (line, message) => {
  const unit = join(root, 'etcd.service');
  await writeFile(unit, `[Service]\nExecStart=${line}\n`);
  await expect(readNode({ manifestsDir: root, unit })).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(message),
  });
});

test.each([
  '/opt/etcd-v3.6.5/etcd --data-dir=/d',
  '/usr/local/bin/etcd-v3.6.5 --data-dir=/d',
  '/usr/bin/etcd3 --data-dir=/d',
  '/usr/bin/nice -n 5 /usr/bin/ionice -c 2 /usr/bin/etcd --data-dir=/d',
  '/usr/bin/etcd --data-dir=/d\nRootDirectory=/',
])('a unit that starts etcd: %s', async (line) => {
  const unit = join(root, 'etcd.service');
  await writeFile(unit, `[Service]\nExecStart=${line}\n`);
  expect((await readNode({ manifestsDir: root, unit })).member.dataDir).toBe('/d');
});

test.each([
  ['', 2 * 1024 ** 3],
  ['0', 2 * 1024 ** 3],
  ['8589934592', 8 * 1024 ** 3],
  ['-1', undefined],
])('the quota of --quota-backend-bytes=%s', async (given, quota) => {
  const file = join(root, 'etcd.env');
  await writeFile(file, `ETCD_DATA_DIR=/d\nETCD_QUOTA_BACKEND_BYTES=${given}\n`);
  expect((await readNode({ manifestsDir: root, environmentFile: file })).member.quota).toBe(quota);
});

test.each([
  ['--data-dir=%S/etcd', '', /--data-dir is %S\/etcd, and only systemd knows the value of %S$/],
  [`--data-dir=\${DATA}/etcd`, '', /--data-dir is \$\{DATA\}\/etcd, and only systemd knows the value of \$\{DATA\}/],
  ['--data-dir=$DATA', '', /--data-dir is \$DATA, /],
  ['--data-dir=/srv', 'ETCD_NAME=%H', /--name is %H, /],
  ['--config-file=%E/etcd.yaml', '', /--config-file is %E\/etcd.yaml, /],
  ['--data-dir=etcd', 'A=b\nWorkingDirectory=%S', /WorkingDirectory is %S, /],
  ['--data-dir=/srv', 'A=b\nEnvironmentFile=-/etc/%i.env', /EnvironmentFile is \/etc\/%i\.env, /],
])('a unit with %s %s is refused: only systemd knows the value', async (args, environment, message) => {
  const unit = join(root, 'etcd.service');
  await writeFile(unit, `[Service]\nEnvironment=${environment}\nExecStart=/nowhere/etcd ${args}\n`);
  await expect(readNode({ manifestsDir: root, unit })).rejects.toThrow(
    errorLike(message, { at: 'etcdUnit', finding: { kind: 'unitUnreadable' } }),
  );
});

test('a specifier in an unrelated setting, or one that a drop-in replaces, is accepted', async () => {
  const unit = join(root, 'etcd.service');
  await mkdir(`${unit}.d`);
  await writeFile(
    unit,
    '[Service]\nEnvironment=ETCD_DATA_DIR=%S/etcd\nExecStart=/nowhere/etcd --log-outputs=%L/x $MORE\n',
  );
  await writeFile(join(`${unit}.d`, 'data.conf'), '[Service]\nEnvironment=ETCD_DATA_DIR=/srv/100%%\n');
  expect((await readNode({ manifestsDir: root, unit })).member.dataDir).toBe('/srv/100%');
});

test('a folder without etcd.yaml is refused with the flags to pass', async () => {
  await mkdir(join(root, 'manifests'));
  const dataDir = join(root, 'nowhere');
  await expect(readNode({ manifestsDir: join(root, 'manifests'), dataDir })).rejects.toThrow(
    errorLike(/does not contain kubeadm's etcd.yaml, and no etcd process runs on /, { finding: { kind: 'noProcess' } }),
  );
});

test("an external etcd is found through the API server's manifest", async () => {
  const manifestsDir = join(root, 'external');
  await mkdir(manifestsDir);
  const apiServer = (servers: string) =>
    writeFile(
      join(manifestsDir, 'kube-apiserver.yaml'),
      stringify({
        kind: 'Pod',
        spec: { containers: [{ name: 'kube-apiserver', command: ['kube-apiserver', `--etcd-servers=${servers}`] }] },
      }),
    );
  await apiServer('https://198.51.100.7:2379,https://198.51.100.8:2379');
  await expect(readNode({ manifestsDir, dataDir: join(root, 'nowhere') })).rejects.toThrow(
    errorLike(/uses an external etcd \(https:..198\.51\.100\.7:2379,.*run this command on the machines of that etcd$/, {
      finding: { kind: 'externalEtcd' },
    }),
  );
  await apiServer('https://127.0.0.1:2379');
  await expect(readNode({ manifestsDir, dataDir: join(root, 'nowhere') })).rejects.toThrow(/no etcd process runs on/);
});

test('etcd outside the kubelet: environment file, config file, unit', async () => {
  const env = join(root, 'etcd.env');
  await writeFile(env, 'ETCD_NAME=m1\nETCD_DATA_DIR=/data\nETCD_LISTEN_PEER_URLS=http://10.0.0.7:2380\n');
  const config = join(root, 'etcd.conf.yaml');
  await writeFile(config, 'name: m2\ndata-dir: /data2\n');
  const unit = join(root, 'etcd.service');
  await writeFile(unit, `[Service]\nEnvironmentFile=${env}\nExecStart=/nowhere/etcd --name=m3\n`);
  const read = async (sources: object) => {
    const { kind, member } = await readNode({ manifestsDir: join(root, 'none'), ...sources });
    return [kind, member.name, member.dataDir];
  };
  expect(await read({ environmentFile: env })).toEqual(['process', 'm1', '/data']);
  expect(await read({ configFile: config })).toEqual(['process', 'm2', '/data2']);
  expect(await read({ unit })).toEqual(['systemd', 'm3', '/data']);
  await expect(read({ environmentFile: join(root, 'no') })).rejects.toThrow(
    errorLike(/^cannot read .*ENOENT/, { at: 'etcdEnvironmentFile' }),
  );
});

test('a separate write-ahead log is found; a relative data directory is refused', async () => {
  const env = join(root, 'etcd.env');
  await writeFile(env, 'ETCD_WAL_DIR=/wal\nETCD_DATA_DIR=/data\n');
  expect((await readNode({ manifestsDir: root, environmentFile: env })).member.walDir).toBe('/wal');
  await writeFile(env, 'ETCD_NAME=m1\n');
  await expect(readNode({ manifestsDir: root, environmentFile: env })).rejects.toThrow(/m1.etcd is relative/);
});

test('the drop-ins of a unit apply in their order, including the owner of the data', async () => {
  const unit = join(root, 'etcd.service');
  await mkdir(`${unit}.d`);
  await writeFile(
    unit,
    '[Service]\nUser=root\nEnvironment=ETCD_NAME=m1 ETCD_DATA_DIR=/old\nExecStart=/nowhere/etcd --name=m1\n',
  );
  await writeFile(join(`${unit}.d`, '20-data.conf'), '[Service]\nEnvironment=ETCD_DATA_DIR=/new\nUser=4711\n');
  await writeFile(join(`${unit}.d`, '10-start.conf'), '[Service]\nExecStart=\nExecStart=/nowhere/etcd --name=m2\n');
  await writeFile(join(`${unit}.d`, 'notes.txt'), '[Service]\nExecStart=/nowhere/etcd --name=m3\n');
  const { member, uid, gid, files } = await readNode({ manifestsDir: root, unit });
  expect([member.name, member.dataDir, uid, gid]).toEqual(['m2', '/new', 4711, 4711]);
  expect(files).toEqual([join(`${unit}.d`, '10-start.conf'), join(`${unit}.d`, '20-data.conf')]);
});

test('a version is found in an image tag and in the output of etcd', () => {
  expect(versionIn('registry.k8s.io/etcd:3.6.5-0')).toBe('3.6.5');
  expect(versionIn('quay.io/coreos/etcd:v3.5.35')).toBe('3.5.35');
  expect(versionIn('etcd Version: 3.4.23\nGit SHA: x')).toBe('3.4.23');
  expect(versionIn('registry:5000/etcd@sha256:00')).toBeUndefined();
});

test('a container that does not see the processes of the node is refused', async () => {
  const unseen = errorLike('cannot see the processes', { finding: { kind: 'ownProcesses' } });
  await mkdir(join(root, '1'));
  await writeFile(join(root, '1', 'comm'), 'pause\n');
  await expect(refuseOwnProcessNamespace(7, root)).rejects.toThrow(unseen);
  await writeFile(join(root, '1', 'comm'), 'systemd\n');
  await refuseOwnProcessNamespace(7, root);
  await expect(refuseOwnProcessNamespace(1, root)).rejects.toThrow(unseen);
});
