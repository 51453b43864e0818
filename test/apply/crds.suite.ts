import { kubectl } from '../e2e/support/kubectl';
import { crdDirectory, crds } from './schema';

const names = crds.map(({ metadata }) => metadata.name);
const silent = { stderr: '' };
const apply = (...flags: string[]) => kubectl(['apply', ...flags, '-f', crdDirectory]);
const remove = () => kubectl(['delete', 'crd', '--ignore-not-found', '--wait=true', ...names]);

// The other suites need them.
beforeAll(remove);
afterAll(async () => {
  await apply('--server-side', '--force-conflicts');
});

describe.each([
  ['client-side', []],
  ['server-side', ['--server-side']],
])('a %s apply of crds/', (_, flags) => {
  afterAll(remove);

  test('is accepted without a warning', async () => {
    expect(await apply('--dry-run=server', ...flags)).toMatchObject(silent);
    expect(await apply(...flags)).toMatchObject(silent);
  });

  test('establishes them', async () => {
    const conditions = ['Established', 'NamesAccepted'].map((type) => `--for=condition=${type}`);
    for (const condition of conditions) await kubectl(['wait', condition, 'crd', ...names, '--timeout=60s']);
    // The API server needs some time to find that a schema is not structural.
    const { stdout } = await kubectl(['get', 'crd', ...names, '-o', 'jsonpath={.items[*].status.conditions[*].type}']);
    expect(stdout).not.toContain('NonStructuralSchema');
  });

  test('applying them again changes nothing', async () => {
    const versions = () => kubectl(['get', 'crd', ...names, '-o', 'jsonpath={.items[*].metadata.resourceVersion}']);
    const before = await versions();
    expect(await apply(...flags)).toMatchObject(silent);
    expect(await versions()).toEqual(before);
    expect(await kubectl(['diff', ...flags, '-f', crdDirectory])).toEqual({ stdout: '', stderr: '' });
  });
});
