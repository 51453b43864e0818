// Fails if a literal below the commands of the agent names a flag or a command of etcd-agent: what to do about a finding is said
// in agent/src/commands/advice/.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../lib/steps.mjs';

const rooms = ['lib', 'etcd', 'store', 'backup', 'control-plane'];

/** What these files name are flags of other programs. */
const exceptions = {
  'lib/end-process.ts': 'Node',
  'etcd/offline/etcdutl.ts': 'etcdutl',
  'backup/payload/inspect.ts': 'etcdutl',
  'backup/payload/file-format.ts': 'what unpacks a file of another tool',
  'backup/payload/decoding.ts': 'what unpacks a file of another tool',
  'backup/restore/restore.ts': 'etcdutl',
  'control-plane/restore/prepare.ts': 'etcdutl',
  'control-plane/node/node.ts': 'etcd, whose flags are read here',
  'control-plane/node/member-flags.ts': 'etcd, whose flags are read here',
};

const NAMED = /(^|[\s`'"(:;])--[a-z]|\betcd(-agent|ctl) [a-z]/;

function* literals(node) {
  if (ts.isStringLiteralLike(node)) yield [node, node.text];
  else if (ts.isTemplateExpression(node)) yield [node, node.getText()];
  for (const child of node.getChildren()) yield* literals(child);
}

for (const room of rooms) {
  for (const file of readdirSync(join(root, 'agent/src', room), { recursive: true })) {
    const name = `${room}/${file}`;
    if (!file.endsWith('.ts') || /\.(test|fixture)\.ts$/.test(file) || Object.hasOwn(exceptions, name)) continue;
    const source = ts.createSourceFile(
      name,
      readFileSync(join(root, 'agent/src', name), 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    );
    for (const [node, text] of literals(source)) {
      if (!NAMED.test(text)) continue;
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      console.error(
        `agent/src/${name}:${line}: names a flag or a command; return a finding instead: ${text.slice(0, 80)}`,
      );
      process.exitCode = 1;
    }
  }
}
