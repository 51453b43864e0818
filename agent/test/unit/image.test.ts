// `etcd-agent` is a command in the image, as the guides write it: `kubectl exec POD -- etcd-agent list`.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const agent = join(import.meta.dirname, '../..');
const entry = '/opt/etcd-agent/bin/etcd-agent.mjs';
const bundled = join(agent, entry.replace('/opt/etcd-agent', 'lib'));
const dockerfile = readFileSync(join(agent, 'Dockerfile'), 'utf8');

test('the bundle can be executed without a shell and without env, neither of which the image has', () => {
  const [first] = readFileSync(bundled, 'utf8').split('\n');
  expect(first).toBe('#!/usr/local/bin/node --expose-gc');
  expect(statSync(bundled).mode & 0o111).toBe(0o111);
});

test('and is on the PATH, next to node', () => {
  expect(dockerfile).toContain(`ln -s ${entry} /image/usr/local/bin/etcd-agent`);
  expect(dockerfile).toMatch(/^COPY lib\/ \/opt\/etcd-agent\/$/m);
  expect(dockerfile).toMatch(/^ENV PATH=\/usr\/local\/bin /m);
});

test('the bundle has one entry point; the one of the crash suites is only in their image', () => {
  const bin = join(agent, 'lib/bin');
  expect(readdirSync(bin).filter((file) => file.startsWith('etcd-agent'))).toEqual(['etcd-agent.mjs']);
  const sources = readdirSync(bin).map((file) => readFileSync(join(bin, file), 'utf8'));
  expect(sources.filter((source) => source.includes('CRASH_ONCE'))).toEqual([]);
});
