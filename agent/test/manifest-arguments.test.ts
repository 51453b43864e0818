// What the constructs write is what the agent reads: its own parser over every manifest of dist/ and the examples.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { generateHybridIdentity, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { buildProgram, type Invocation } from '../src/program.ts';
import { Settings } from '../src/settings.ts';

// biome-ignore lint/suspicious/noExplicitAny: manifests of any kind
type Manifest = any;
const script = join(import.meta.dirname, '../../scripts/manifests.mjs');
const files: { file: string; manifests: Manifest[] }[] = JSON.parse(
  execFileSync(process.execPath, [script], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }),
);
const containers = files.flatMap(({ file, manifests }) =>
  manifests.flatMap(({ kind, metadata, spec }) => {
    const pod = spec?.jobTemplate?.spec.template.spec ?? spec?.template?.spec;
    const found: Manifest[] = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
    return found
      .filter(({ image }) => /\/agent:/.test(image))
      .map(({ name, args, volumeMounts }) => ({
        name: `${file} ${kind} ${metadata.name} ${name}`,
        args: args as string[],
        mounts: (volumeMounts as Manifest[]).map(({ mountPath }) => mountPath as string),
      }));
  }),
);
const backups = containers.filter(({ args }) => args[0] === 'backup');
// The agent has these from a later release on.
const later = ['gate', 'reconcile', 'serve'];

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
  expect([...new Set(containers.map(({ args }) => args[0]))].sort()).toEqual(['backup', ...later]);
});

test.each(later)('%s is not yet among its commands', async (command) => {
  await expect(parse([command])).rejects.toThrow(/unknown command/);
});

test.each(backups)('$name', async ({ args, mounts }) => {
  const invocation = await parse(args);
  expect(invocation.command).toBe('backup');
  expect(invocation.args).toEqual([]);
  const settings = await Settings.load(invocation);
  expect(settings.stores().length).toBeGreaterThan(0);
  expect(settings.text('output')).toBe('json');

  const paths = args.join(' ').match(/\/(?:etc\/etcd-agent|backup)\/[\w./-]+/g) ?? [];
  const unmounted = paths.filter(
    (path: string) => !mounts.some((mount: string) => path === mount || path.startsWith(`${mount}/`)),
  );
  expect(unmounted).toEqual([]);
});

test('recipients of encryption of every kind are taken by the constructs and by the agent', async () => {
  // The compiler can't import the library's modules, which are CommonJS, from here.
  const library = join(import.meta.dirname, '../../src');
  const { ageRecipientProblem } = await import(`${library}/age-recipient.ts`);
  const { backupArguments } = await import(`${library}/backup-pod.ts`);
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

test('a flag that the agent does not know is found', async () => {
  await expect(parse(['backup', '--cluster=x', '--no-such-flag'])).rejects.toThrow(/unknown option/);
});
