import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentImage, isReleased, memberImage } from './agent-image';

const read = (file: string) => readFileSync(join(__dirname, '../..', file), 'utf8');
const { version } = JSON.parse(read('package.json'));

test("the default images are this release's", () => {
  expect(agentImage).toBe(`ghcr.io/cdk8s-etcd/agent:${version}`);
  expect(memberImage).toBe(`ghcr.io/cdk8s-etcd/member:${version}`);
});

test('they are released when the changelog has this version', () => {
  const released = [...read('CHANGELOG.md').matchAll(/^## \[?(\d[\w.-]*)/gm)].map(([, each]) => each);
  expect(isReleased).toBe(released.includes(version));
});
