import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentImage } from './agent-image';

test("the default image is this release's", () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8'));
  expect(agentImage).toBe(`ghcr.io/cdk8s-etcd/agent:${version}`);
});
