import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from './config-file.ts';

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'config-'));
});
afterEach(() => rm(place, { recursive: true }));

async function read(content: string) {
  const file = join(place, 'config.yaml');
  await writeFile(file, content);
  return readConfig(file);
}

// As numbers, they would be other ids: 1234567890123456800, 49509000, 1234.
test.each([
  'clusterId: 1234567890123456789',
  'clusterId: 49509e3',
  'sha256: 01234',
  'initialClusterToken: 0x10',
  'restoredFrom: 1234567890123456',
  'restoredFrom: [1234567890123456]',
])('a text of digits needs quotes: %s', async (line) => {
  const name = line.split(':')[0]!;
  await expect(read(line)).rejects.toThrow(new RegExp(`: ${name}(\\.0)?: must be text: write it in quotes`));
  await expect(read(line.replace(/(?<=[ [])[0-9][0-9a-fx]*/, "'$&'"))).resolves.toHaveProperty(name);
});
