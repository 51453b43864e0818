// The agent accepts the output of the constructs: its own parser reads every manifest of dist/ and the examples.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateHybridIdentity, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { buildProgram, type Invocation } from '../../src/commands/cli/program.ts';
import { Settings } from '../../src/commands/cli/settings.ts';
import { memberConfig } from '../../src/member/member-config.ts';

// biome-ignore lint/suspicious/noExplicitAny: manifests of any kind
type Manifest = any;
const script = join(import.meta.dirname, '../../../scripts/lib/manifests.mjs');
const files: { file: string; manifests: Manifest[] }[] = JSON.parse(
  execFileSync(process.execPath, [script], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }),
);
const containers = files.flatMap(({ file, manifests }) =>
  manifests.flatMap(({ kind, metadata, spec }) => {
    const pod = kind === 'Pod' ? spec : (spec?.jobTemplate?.spec.template.spec ?? spec?.template?.spec);
    const found: Manifest[] = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
    return found
      .filter(({ image }) => /\/agent:/.test(image))
      .map(({ name, args, env, volumeMounts }) => ({
        name: `${file} ${kind} ${metadata.name} ${name}`,
        args: args as string[],
        env: (env ?? []) as Manifest[],
        cluster: metadata.name as string,
        namespace: (metadata.namespace ?? 'default') as string,
        mounts: ((volumeMounts ?? []) as Manifest[]).map(({ mountPath }) => mountPath as string),
      }));
  }),
);
const backups = containers.filter(({ args }) => args[0] === 'backup');
const members = containers.filter(({ args }) => ['gate', 'serve'].includes(args[0]!));
const reconcilers = containers.filter(({ args }) => args[0] === 'reconcile');
const restores = containers.filter(({ args }) => args[0] === 'restore');
const keepers = containers.filter(({ args }) => args[0] === 'keep-image');

async function parse(args: string[]): Promise<Invocation> {
  let found: Invocation | undefined;
  const program = buildProgram(async (invocation) => {
    found = invocation;
  });
  await program.parseAsync(args, { from: 'user' });
  return found!;
}

test('there are manifests that run the agent', () => {
  expect(backups.length).toBeGreaterThan(2);
  expect(members.length).toBeGreaterThan(1);
  expect(reconcilers.length).toBeGreaterThan(1);
  expect(restores.length).toBeGreaterThan(0);
  expect(keepers.length).toBeGreaterThan(0);
  const all = backups.length + members.length + reconcilers.length + restores.length + keepers.length;
  expect(containers).toHaveLength(all);
});

test.each(reconcilers)('$name', async ({ args }) => {
  const invocation = await parse(args);
  expect(invocation).toMatchObject({ command: 'reconcile', args: [] });
  const settings = await Settings.load(invocation);
  const given = (flag: string) => args.find((argument) => argument.startsWith(`--${flag}=`))?.slice(flag.length + 3);
  for (const flag of ['deployment', 'lease', 'selector']) expect(settings.text(flag)).toBe(given(flag));
  expect(settings.text('lease')).toBeTruthy();
});

test.each(backups)('$name', async ({ args, mounts }) => {
  const invocation = await parse(args);
  expect(invocation.command).toBe('backup');
  expect(invocation.args).toEqual([]);
  const settings = await Settings.load(invocation);
  expect(settings.stores().length).toBeGreaterThan(0);
  expect(settings.text('output')).toBe('json');

  const paths = args.join(' ').match(/\/(?:etc\/etcd-agent|backup)\/[\w./-]+/g) ?? [];
  expect(paths.filter((path) => !isMounted(path, mounts))).toEqual([]);
});

test.each(restores)('$name', async ({ args, mounts }) => {
  const directory = await mkdtemp(join(tmpdir(), 'restore-'));
  const config = join(directory, 'restore.yaml');
  await writeFile(config, 'snapshot: etcd-snapshot-20261121-023807-3f9c2a\n');
  try {
    const invocation = await parse(args.map((each) => each.replace(/^--config=.*/, `--config=${config}`)));
    expect(invocation).toMatchObject({ command: 'restore control-plane', args: [] });
    const settings = await Settings.load(invocation);
    expect(settings.store()).not.toHaveProperty('retention.last');
    expect(settings.text('snapshot')).toBeTruthy();
  } finally {
    await rm(directory, { recursive: true });
  }
  const paths = args.join(' ').match(/(?<=[="])\/etc\/[\w./-]+/g) ?? [];
  expect(paths.length).toBeGreaterThan(2);
  expect(paths.filter((path) => !isMounted(path, mounts))).toEqual([]);
});

test.each(keepers)('$name', async ({ args }) => {
  expect(await parse(args)).toMatchObject({ command: 'keep-image', args: [] });
});

test.each(members)('$name', async ({ args, env, cluster, namespace, mounts }) => {
  const invocation = await parse(args);
  const command = args[0] as 'gate' | 'serve';
  expect(invocation).toMatchObject({ command, args: [] });
  const pod = `${cluster}-1`;
  const fields: Record<string, string> = {
    'metadata.name': pod,
    'metadata.uid': '5f2c',
    'metadata.namespace': namespace,
    'status.podIP': '10.0.0.7',
    "metadata.annotations['cdk8s-etcd.dev/epoch']": '',
  };
  const variables = env.map(({ name, value, valueFrom }) => [name, value ?? fields[valueFrom.fieldRef.fieldPath]]);
  const settings = await Settings.load(invocation);
  const config = memberConfig(command, (name) => settings.byFlag(name), Object.fromEntries(variables));

  const tls = config.peerTlsDir === undefined ? 'http' : 'https';
  const domain = `${namespace}.svc.cluster.local`;
  const peerUrl = `${tls}://${pod}.${cluster}-peers.${domain}:2380`;
  expect(config).toMatchObject({
    ...{ cluster, namespace, pod, ordinal: 1, podUid: '5f2c', podIp: '10.0.0.7', minEpoch: 0 },
    ...{ peerUrl, clientUrl: `${tls}://${pod}-client.${domain}:2379`, metricsUrl: 'http://0.0.0.0:2381' },
    ...{ listen: { host: '0.0.0.0', port: 8080 }, record: `${cluster}-record` },
  });
  const paths = [config.dataDir, config.scratchDir, config.settingsFile, config.peerTlsDir, config.serverTlsDir];
  expect(paths.filter((path) => path && !isMounted(path, mounts))).toEqual([]);
});

const isMounted = (path: string, mounts: string[]) =>
  mounts.some((mount) => path === mount || path.startsWith(`${mount}/`));

test('the constructs and the agent accept encryption recipients of every kind', async () => {
  // The compiler cannot import the library's CommonJS modules from here.
  const library = join(import.meta.dirname, '../../../src');
  const { ageRecipientProblem } = await import(`${library}/backup/encryption.ts`);
  const { backupArguments } = await import(`${library}/lib/backup-pod.ts`);
  const identities = [await generateX25519Identity(), await generateX25519Identity(), await generateHybridIdentity()];
  const [first, second, hybrid] = await Promise.all(identities.map((identity) => identityToRecipient(identity)));
  for (const ageRecipients of [[first!, second!], [hybrid!]]) {
    expect(ageRecipients.map((recipient) => ageRecipientProblem(recipient))).toEqual(
      ageRecipients.map(() => undefined),
    );
    const args = backupArguments({ cluster: 'orders', endpoints: [], stores: [], ageRecipients });
    expect(await (await Settings.load(await parse(args))).recipients()).toEqual(ageRecipients);
  }
  for (const [at, char] of [...first!].entries()) {
    const typo = `${first!.slice(0, at)}${char === 'q' ? 'p' : 'q'}${first!.slice(at + 1)}`;
    expect(ageRecipientProblem(typo)).toBeDefined();
  }
});

test('an unknown flag is detected', async () => {
  await expect(parse(['backup', '--cluster=x', '--no-such-flag'])).rejects.toThrow(/unknown option/);
});
