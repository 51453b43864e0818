// Fails if a literal below the commands of the agent names one of its flags or commands, or if any code finds or cuts a sentence by
// the words of an error: what to do about a finding is said in agent/src/commands/advice/.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../lib/steps.mjs';
import { sourcesOf } from './sources.mjs';

const rooms = ['lib', 'etcd', 'store', 'backup', 'control-plane'];

/** What these files name are flags of another program that the agent has too. */
const exceptions = {
  'lib/end-process.ts': 'Node',
  'etcd/offline/etcdutl.ts': 'etcdutl',
  'backup/payload/inspect.ts': 'etcdutl',
  'backup/restore/restore.ts': 'etcdutl',
  'control-plane/restore/prepare.ts': 'etcdutl',
  'control-plane/node/node.ts': 'etcd, whose flags are read here',
  'control-plane/node/member-flags.ts': 'etcd, whose flags are read here',
};

/** The errors that these read are of Node, of a store or of Kubernetes. */
const foreign = ['store/', 'controllers/kubernetes/restore-progress.ts'];

/** What the agent defines as flags. */
const flags = readdirSync(join(root, 'agent/src/commands/cli'))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .flatMap((file) => [
    ...readFileSync(join(root, 'agent/src/commands/cli', file), 'utf8').matchAll(/['"](?:-\w, )?--([a-z][a-z-]*)/g),
  ])
  .map(([, name]) => name);
if (flags.length < 50) throw new Error('the flags of the agent are not found in agent/src/commands/cli');

const NAMED = new RegExp(`--(?:${[...new Set(flags)].sort().reverse().join('|')})(?![a-z-])|\\betcd-agent [a-z]`);
/** A hint that is found, or a sentence that is cut, by the words of an error. */
const READ = /(?:\.message|messageOf\([^()]*\))\s*\.(?:includes|replace|replaceAll|startsWith|match)\(/g;

function* literals(node) {
  if (ts.isStringLiteralLike(node)) yield [node, node.text];
  else if (ts.isTemplateExpression(node)) yield [node, node.getText()];
  for (const child of node.getChildren()) yield* literals(child);
}

function fail(file, text, at, what) {
  const line = text.slice(0, at).split('\n').length;
  console.error(`${file}:${line}: ${what}`);
  process.exitCode = 1;
}

for (const file of sourcesOf(...rooms.map((room) => `agent/src/${room}`))) {
  if (Object.hasOwn(exceptions, file.slice('agent/src/'.length))) continue;
  const text = readFileSync(join(root, file), 'utf8');
  for (const [node, literal] of literals(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))) {
    if (NAMED.test(literal))
      fail(file, text, node.getStart(), `names a flag or a command; return a finding instead: ${literal.slice(0, 80)}`);
  }
}

for (const file of sourcesOf('agent/src')) {
  if (foreign.some((path) => file.startsWith(`agent/src/${path}`))) continue;
  const text = readFileSync(join(root, file), 'utf8');
  for (const { index, 0: call } of text.matchAll(READ))
    fail(file, text, index, `reads the words of an error; give it a finding instead: ${call}`);
}
