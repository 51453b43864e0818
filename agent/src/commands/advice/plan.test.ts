import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { MemberFlags } from '../../control-plane/node/member-flags.ts';
import { SYSTEMD_ROOTS } from '../../control-plane/node/systemd-unit.ts';
import { quoted } from '../../lib/quoted.ts';
import { buildProgram, type Invocation } from '../cli/program.ts';
import { Settings } from '../cli/settings.ts';
import { flagsAgain } from '../restore/control-plane-flags.ts';
import { agentScript, type PlanRequest, planSteps, planText } from './plan.ts';

const member = (n: number) => ({ name: `cp${n}`, peerUrls: [`https://10.0.0.${n}:2380`] });
const plan = (size: number, more: Partial<PlanRequest> = {}): PlanRequest => ({
  finding: 'no member answers',
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
  notes: [],
  ...more,
});
const restore = 'etcd-agent restore control-plane snap-1 --store=s3://x --cluster=kubernetes';
const at = (request: PlanRequest) => planSteps(request).map(({ node, commands }) => [node, commands.at(-1)]);

test('one node', () => {
  expect(at(plan(1)).slice(1)).toEqual([
    ['cp1', restore],
    ['cp1', 'systemctl restart kubelet'],
    ['cp1', 'etcd-agent restore control-plane --check'],
  ]);
  expect(planText(plan(1))).toMatch(/^2\. On cp1 \(10\.0\.0\.1\): fetch and verify/m);
});

test('the static Pod is asked for what the commands ask for', () => {
  const { flags } = plan(3);
  expect(planText(plan(3))).toContain('write the lines `snapshot: "snap-1"` and `bumpRevision: 1000000000` into');
  expect(planText(plan(3, { flags: [...flags, '--force-failed', '--force-foreign'] }))).toContain(
    '`bumpRevision: 1000000000` and `forceFailed: true` and `forceForeign: true` into',
  );
});

test('the plan starts with the finding', () => {
  expect(planText(plan(1)).split('\n')[0]).toBe('FINDING: no member answers.');
});

test('three nodes: all are stopped before the first is restored', () => {
  const commands = at(plan(3));
  expect(commands.slice(1, 7)).toEqual([
    ...['cp1', 'cp2', 'cp3'].map((node) => [node, `${restore} --stop`]),
    ...['cp1', 'cp2', 'cp3'].map((node) => [node, restore]),
  ]);
});

test('the agent gets only the paths of the host that it needs', () => {
  const [, command] = at(plan(1))[0]!;
  expect(command).toMatch(/ctr -n k8s\.io run .*--net-host --with-ns pid:\/proc\/1\/ns\/pid .* "\$image" "\$name" /);
  expect(command).toContain('image=registry/etcd-agent:1;');
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

const bash = (script: string, env: Record<string, string> = { ETCD_AGENT_IMAGE: 'registry/etcd-agent:1' }) =>
  spawnSync('bash', ['-ec', script], { encoding: 'utf8', env: { ...process.env, ...env } });

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/control-plane/restore.md'), 'utf8');
const [ofGuide] = /^etcd-agent\(\) \(.*?^\)$/ms.exec(guide)!;

const functions: [string, string][] = [
  ['plan', at(plan(1, { image: undefined as never }))[0]![1]!],
  ['guide', ofGuide],
];

describe.each(functions)('the function of the %s runs no image but the one that is named', (_, command) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'image-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const name = 'ghcr.io/cdk8s-etcd/etcd-agent';
  const tenant = 'docker.io/tenant/etcd-agent:999';

  /** The image that is run as root, or the error. */
  const chosen = async (line: string | undefined, images: readonly string[], env: Record<string, string> = {}) => {
    const pod = join(folder, 'etcd-restore.yaml');
    await rm(pod, { force: true });
    if (line !== undefined) await writeFile(pod, `    containers:\n      - name: restore\n${line}\n`);
    const list = images.map((each) => `echo ${each}`).join('; ');
    const ctr = `ctr() { case "$*" in *"images ls"*) ${list};; *" run "*) printf 'ran %s\\n' "$@";; esac; }`;
    const here = command.replaceAll('/etc/etcd-restore/etcd-restore.yaml', pod);
    const { stdout, stderr, status } = bash(`${ctr}\n${here}\netcd-agent list`, env);
    const [, image] = /^ran (.*)\nran etcd-restore-/m.exec(stdout) ?? [];
    return image ?? `${status}: ${stderr}`;
  };

  test.each([
    ['by tag', `        image: ${name}:0.1.0`, `${name}:0.1.0`],
    ['in quotes', `        image: "${name}:0.1.0"`, `${name}:0.1.0`],
    ['as the first field of the container', `      - image: ${name}:0.1.0`, `${name}:0.1.0`],
    ['by digest', `        image: ${name}@sha256:aaaa`, `${name}@sha256:aaaa`],
    ['by tag and digest', `        image: ${name}:0.1.0@sha256:aaaa`, `${name}@sha256:aaaa`],
    ['of a registry with a port', '        image: r:5000/agent:1@sha256:aaaa', 'r:5000/agent@sha256:aaaa'],
    ['without a registry', '        image: cdk8s-etcd/agent:1', 'docker.io/cdk8s-etcd/agent:1'],
    ['without a folder', '        image: etcd-agent', 'docker.io/library/etcd-agent:latest'],
    ['of this machine', '        image: localhost/etcd-agent:1', 'localhost/etcd-agent:1'],
  ])('the static Pod names it %s', async (_how, line, stored) => {
    expect(await chosen(line, [tenant, stored, 'sha256:bbbb'])).toBe(stored);
    expect(await chosen(line, [tenant, `evil.example.com/${stored}`, `${stored}0`, 'sha256:bbbb'])).toMatch(
      `2: the image ${stored} is not on this node`,
    );
  });

  test('nothing names it', async () => {
    expect(await chosen(undefined, [tenant, `${name}:0.1.0`])).toMatch(/^2: .*ETCD_AGENT_IMAGE/);
    expect(await chosen('        image: ""', [tenant, ''])).toMatch(/^2: .*ETCD_AGENT_IMAGE/);
  });

  test('the shell names it', async () => {
    const env = { ETCD_AGENT_IMAGE: `${name}:0.1.0` };
    expect(await chosen(undefined, [tenant, `${name}:0.1.0`], env)).toBe(`${name}:0.1.0`);
  });
});

test('an image that the plan knows is named as containerd keeps it', () => {
  const [, command] = at(plan(1, { image: 'r/agent:1@sha256:aa' }))[0]!;
  const ctr = `ctr() { case "$*" in *"images ls"*) echo docker.io/r/agent@sha256:aa;; *" run "*) echo "$*";; esac; }`;
  expect(bash(`${ctr}\n${command}\netcd-agent list`).stdout).toMatch(' docker.io/r/agent@sha256:aa etcd-restore-');
});

test.each(functions)(
  'the function of the %s ends as the agent ends, and leaves no container, not even of a shell that was killed',
  (_, command) => {
    const gone = spawnSync('true').pid;
    const ctr = `ctr() {
    case "$*" in *"containers ls"*) echo etcd-restore-1-${gone}; echo etcd-restore-2-$$; echo other; return;; *"images ls"*) echo docker.io/registry/etcd-agent:1; return;; esac
    echo "$*" >&3
    case "$*" in *"tasks exec"*) return 40;; *"tasks rm"*) return 137;; esac; }`;
    const { status, stdout } = bash(`exec 3>&1; ${ctr}\n${command}\netcd-agent list 'a b'`);
    expect(status).toBe(40);
    const lines = stdout.trim().split('\n');
    expect(lines.slice(0, 2)).toEqual([
      `-n k8s.io tasks rm --force etcd-restore-1-${gone}`,
      `-n k8s.io containers rm etcd-restore-1-${gone}`,
    ]);
    const [, name] = / (etcd-restore-\d+-\d+) \S+node .*etcd-agent\.mjs keep-image$/.exec(lines[2]!)!;
    expect(lines[3]).toMatch(/^-n k8s\.io tasks exec --user 0:0 .*etcd-agent\.mjs list a b$/);
    expect(lines.slice(4)).toEqual([`-n k8s.io tasks rm --force ${name}`, `-n k8s.io containers rm ${name}`]);
  },
);

/** Paths of the host that the function mounts, with their mode. */
function mountsOf(command: string): Map<string, string> {
  const ctr =
    'ctr() { case "$*" in *"images ls"*) echo docker.io/registry/etcd-agent:1;; *" run "*) printf "%s\\n" "$@" >&2;; esac; }';
  const { stderr } = bash(`${ctr}\n${command}\netcd-agent list`);
  const found = stderr.matchAll(/^type=bind,src=(.+),dst=\1,options=rbind:(r[ow])$/gm);
  return new Map(Array.from(found, ([, path, mode]) => [path!, mode!]));
}

/** The path and all its parent folders. */
const above = (path: string): string[] => (path === '/' ? ['/'] : [path, ...above(dirname(path))]);

async function parsed(args: string[]): Promise<Settings> {
  let found: Invocation | undefined;
  const program = buildProgram(async (invocation) => {
    found = invocation;
  });
  await program.parseAsync(args, { from: 'user' });
  return Settings.load(found!);
}

const blocks = Array.from(guide.matchAll(/^( *)```sh\n(.*?)^\1```$/gms), ([, indent, code]) =>
  code!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
);
const oneLine = (code: string) => code.replaceAll(/\\\n */g, ' ');
/** The lines that the guide adds to its function. */
const extraLines = blocks.filter((code) =>
  oneLine(code)
    .trim()
    .split(/ (?=--mount )/)
    .every((line) => /^ *--mount /.test(line)),
);
const withLines = (lines: string) => ofGuide.replace('    "$image"', `${lines}    "$image"`);
const commands = blocks.flatMap((code) => oneLine(code).split('\n')).filter((line) => line.startsWith('etcd-agent '));
const plans = commands.filter((line) => line.startsWith('etcd-agent restore control-plane --plan'));
const words = (line: string) => bash(`etcd-agent() { printf '%s\\n' "$@"; }\n${line}`).stdout.trim().split('\n');

test('a member that still has its data is saved with the command of the guide', async () => {
  const [line] = commands.filter((each) => each.startsWith('etcd-agent backup '));
  expect(line).not.toContain('…');
  const settings = await parsed(words(line!));
  expect(settings.text('survivor')).toBe('https://127.0.0.1:2379');
  const [{ filesystem }] = settings.stores() as [{ filesystem?: { path: string } }];
  const files = [filesystem?.path, ...['cacert', 'cert', 'key'].map((name) => settings.text(name))];
  const mounted = mountsOf(ofGuide);
  expect(files.filter((file) => !above(file!).some((folder) => mounted.get(folder) === 'rw'))).toEqual([]);
});

test('the guide has plans to type, and lines for its function', () => {
  expect(plans).toHaveLength(2);
  expect(extraLines).toHaveLength(2);
});

describe.each(plans)('%s', (line) => {
  let guided: Map<string, string>;
  let planned: Map<string, string>;
  beforeAll(async () => {
    const again = flagsAgain(await parsed(words(line)));
    planned = mountsOf(at(plan(1, again))[0]![1]!);
    const own = extraLines.filter(
      (lines) => again.storeFolder !== undefined && lines.includes(`src=${again.storeFolder},`),
    );
    expect(own).toHaveLength(again.storeFolder === undefined ? 0 : 1);
    guided = mountsOf(withLines(own.join('')));
  });

  test("the guide's function mounts everything that the plan's function mounts, with the same modes", () => {
    expect(planned.size).toBeGreaterThan(2);
    const modes = (path: string) => above(path).flatMap((folder) => guided.get(folder) ?? []);
    const missing = [...planned].filter(([path, mode]) => !modes(path).some((one) => one === 'rw' || one === mode));
    expect(missing).toEqual([]);
  });

  test('and mounts nothing else', () => {
    const needs = (folder: string, mode: string) =>
      [...planned].some(([path, its]) => above(path).includes(folder) && its === mode);
    // The guide mounts the folder with all credentials and identities; the plan mounts only those in use.
    const beyond = [...guided].filter(([folder, mode]) => !needs(folder, mode) && folder !== '/etc/etcd-restore');
    expect(beyond).toEqual([]);
    expect(guided.get('/etc/etcd-restore')).toBe('ro');
  });
});

test('the lines for a systemd unit name the folders that the plan mounts for it', () => {
  const unit = mountsOf(withLines(extraLines.find((lines) => lines.includes('systemd'))!));
  const folders = [...unit].filter(([path]) => path.endsWith('/systemd/system'));
  expect(folders).toHaveLength(2);
  expect(folders.filter(([path, mode]) => !SYSTEMD_ROOTS.includes(path) || mode !== 'ro')).toEqual([]);
});

test('the functions of the guide and of the plan differ only in their mounts', () => {
  const bare = (lines: readonly string[]) =>
    lines.map((line) => line.trim().replace(/ ?[\\;]$/, '')).filter((line) => !/^(#|--mount )/.test(line));
  const [line, agent] = /^ *agent='(.*)'\n/m.exec(ofGuide)!;
  const spelledOut = ofGuide.replace(line, '').replaceAll('$agent', agent!);
  expect(bare(spelledOut.split('\n'))).toEqual(bare(agentScript([])));
});

test('further files of a unit are mounted where they exist', () => {
  const [there, missing] = [import.meta.dirname, join(import.meta.dirname, "it's not there")];
  const request = plan(1, { mayExist: [there, join(there, 'plan.ts'), missing], files: [join(there, 'plan.ts')] });
  const [, command] = at(request)[0]!;
  const ctr =
    'ctr() { case "$*" in *"images ls"*) echo docker.io/registry/etcd-agent:1;; *" run "*) printf "%s\\n" "$@" >&2;; esac; }';
  const { stderr } = bash(`${ctr}\n${command}\netcd-agent list`);
  const mounts = stderr.split('\n').filter((line) => line.startsWith('type=bind'));
  expect(mounts.filter((line) => line.includes(there))).toEqual([
    `type=bind,src=${there},dst=${there},options=rbind:ro`,
  ]);
});

test('text from the store or from a flag becomes neither a command nor a line of the plan', () => {
  const hostile = "x'; touch /tmp/plan-was-run; '\n     touch /tmp/plan-was-run";
  const request = plan(3, {
    id: hostile,
    leftOut: [{ name: hostile, peerUrls: [hostile] }],
    journalDir: '/etc/$(touch /tmp/plan-was-run)',
    manifestsDir: "/etc/a'b/manifests",
    storeFolder: '/srv/a b;c',
    image: 'registry/$(reboot)',
    members: [{ name: 'cp1\n     touch /tmp/plan-was-run', peerUrls: [hostile] }],
    notes: [hostile],
    finding: hostile,
  });
  expect(planText(request)).not.toMatch(/^ *touch/m);
  for (const { commands } of planSteps(request)) {
    for (const command of commands) {
      expect(command).not.toMatch(/\n/);
      const stubs = 'etcd-agent() { printf "%s\\n" "$@"; }; mkdir() { :; }; mv() { :; }; systemctl() { :; }';
      const { status, stdout } = bash(`${stubs}; ${command}`);
      expect(status).toBe(0);
      if (command.includes('control-plane $') || command.startsWith("etcd-agent restore control-plane '")) {
        expect(stdout).toContain(hostile);
      }
    }
  }
  expect(existsSync('/tmp/plan-was-run')).toBe(false);
});

test('etcd outside the kubelet is stopped and started by hand', () => {
  const request = plan(1);
  const text = planText({ ...request, node: { ...request.node, kind: 'systemd' } });
  expect(text).toMatch(/stop etcd \(`systemctl stop etcd`\).*start etcd \(`systemctl start etcd`\)/);
});

test('a member that joined after the snapshot gets a step of its own', () => {
  const leftOut = [{ name: '', peerUrls: ['https://10.0.0.9:2380'] }, member(3)];
  expect(planText(plan(1, { leftOut }))).toMatch(/^1\. On 10\.0\.0\.9, which is not a member/m);
  expect(planText(plan(1, { leftOut }))).toMatch(/^2\. On cp3 \(10\.0\.0\.3\), which is not a member.*mv \/etc/ms);
  const foreign = { ...member(3), foreign: 'c9' };
  expect(planText(plan(1, { leftOut: [foreign] }))).not.toContain('which is not a member');
});

test('quotes', () => {
  expect(quoted("a'b")).toBe(`'a'\\''b'`);
  expect(quoted('s3://b/p')).toBe('s3://b/p');
  expect(quoted('{"a":1}')).toBe(`'{"a":1}'`);
});
