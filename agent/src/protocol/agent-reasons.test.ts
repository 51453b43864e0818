import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentReasons } from './agent-reasons.ts';

const page = readFileSync(new URL('../../../docs/clusters/member-pods.md', import.meta.url), 'utf8');
const section = (title: string) => page.split(/^## /m).find((part) => part.startsWith(title)) ?? '';

test('docs/clusters/member-pods.md has a line for each reason, and no other line', () => {
  const lines = Array.from(section('Reasons').matchAll(/^\| `(\w+)` \|/gm), ([, reason]) => reason!);
  expect(lines.toSorted()).toEqual([...agentReasons].sort());
});

test('each reason is used somewhere', () => {
  const member = join(import.meta.dirname, '../member');
  const names = readdirSync(member, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!test|fixture)\.ts$/.test(name),
  );
  const source = names.map((name) => readFileSync(join(member, name), 'utf8')).join('\n');
  expect(agentReasons.filter((reason) => !source.includes(`'${reason}'`))).toEqual([]);
});
