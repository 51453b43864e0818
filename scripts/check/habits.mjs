// Fails if two files export a type of the same name: a reader could not know which one is meant. Also if a spread adds one optional
// property, which can be written directly, and if a small file has one importer, which could have its content.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { root } from '../lib/steps.mjs';
import { sourcesOf } from './sources.mjs';

const sources = sourcesOf('src', 'agent/src').map((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  return { file, text };
});

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

const types = new Map();
for (const { file, text } of sources) {
  for (const [, name] of text.matchAll(/^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm))
    types.set(name, [...(types.get(name) ?? []), file]);
}
for (const [name, places] of types)
  if (new Set(places).size > 1) fail(`${name} is exported by ${places.join(' and ')}: rename one`);

/** Where the absence of a key matters, by file and key. */
const absent = {
  'agent/src/etcd/grpc.ts token': 'a header',
  'agent/src/controllers/jobs/job-arguments.ts ETCD_AGENT_SOURCE_TOKEN': 'a variable of a container',
  'agent/src/controllers/certificates/wanted.ts root': 'the keys are the names of the certificates',
  'agent/src/controllers/certificates/wanted.ts backup': 'the keys are the names of the certificates',
  'agent/src/store/parse.ts prefix': 'copy refuses the same store twice, and compares what a schema has parsed',
  'agent/src/store/parse.ts port': 'copy refuses the same store twice, and compares what a schema has parsed',
  'agent/src/store/parse.ts username': 'copy refuses the same store twice, and compares what a schema has parsed',
  'agent/src/store/parse.ts path': 'copy refuses the same store twice, and compares what a schema has parsed',
  'agent/src/store/parse.ts hostKey': 'copy refuses the same store twice, and compares what a schema has parsed',
};

const bare = (node) => (ts.isParenthesizedExpression(node) ? bare(node.expression) : node);
const isEmpty = (node) => ts.isObjectLiteralExpression(node) && node.properties.length === 0;

/** The object that a spread adds or not: of `...(c && { … })`, `...(c ? { … } : {})` and `...(c ? {} : { … })`. */
function conditional(node) {
  const value = bare(node.expression);
  if (ts.isBinaryExpression(value) && value.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken)
    return bare(value.right);
  if (!ts.isConditionalExpression(value)) return undefined;
  const [one, other] = [bare(value.whenTrue), bare(value.whenFalse)];
  return isEmpty(other) ? one : isEmpty(one) ? other : undefined;
}

/** Whether an earlier part of the object may have the key: an undefined value would replace that one. */
const mayHave = (node, key) => {
  if (!ts.isSpreadAssignment(node)) return node.name.getText() === key;
  const object = conditional(node) ?? bare(node.expression);
  return !ts.isObjectLiteralExpression(object) || object.properties.some((each) => mayHave(each, key));
};

/** The key of the one property that a spread adds. A quoted or computed key is an entry of a map: of labels, headers or flags. */
function keyOf(node) {
  const object = ts.isSpreadAssignment(node) ? conditional(node) : undefined;
  if (!object || !ts.isObjectLiteralExpression(object) || object.properties.length !== 1) return undefined;
  const { name } = object.properties[0];
  if (!name || !ts.isIdentifier(name)) return undefined;
  const before = node.parent.properties.slice(0, node.parent.properties.indexOf(node));
  return before.some((each) => mayHave(each, name.text)) ? undefined : name.text;
}

const unused = new Set(Object.keys(absent));
function walk(node, file) {
  const key = keyOf(node);
  if (key !== undefined && !unused.delete(`${file} ${key}`) && !Object.hasOwn(absent, `${file} ${key}`)) {
    const { line } = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart());
    fail(`${file}:${line + 1}: a spread adds ${key} alone; write ${key}: … with undefined for none`);
  }
  ts.forEachChild(node, (child) => walk(child, file));
}
for (const { file, text } of sources) walk(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true), file);
for (const place of unused) fail(`${place}: no spread adds it, so scripts/check/habits.mjs need not name it`);

/**
 * A file of fewer lines whose one importer is beside it belongs into that one. It stays if both would be longer than `most` lines, and if
 * tests, scripts or benchmarks import it too.
 */
const few = 45;
const most = 250;
/** Small files that stay, and why. */
const small = {
  'agent/src/commands/pin.ts': 'each command has a file',
  'agent/src/commands/show.ts': 'each command has a file',
  'agent/src/plugin/verbs.ts': 'the list to which a new verb is added',
  'src/control-plane/control-plane-problems.ts': 'the problems of a resource have a file, as those of the others do',
};
const importsOf = ({ file, text }) =>
  ts
    .preProcessFile(text)
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => normalize(join(dirname(file), fileName.endsWith('.ts') ? fileName : `${fileName}.ts`)));
const importers = Map.groupBy(
  sources.flatMap((source) => importsOf(source).map((of) => ({ of, by: source }))),
  ({ of }) => of,
);
const others = globSync(['{agent,bench,quickstart,scripts,test}/**/*.{ts,mts,mjs}', 'src/**/*.{test,suite}.ts'], {
  cwd: root,
  exclude: (path) => /node_modules|^agent\/lib/.test(path),
}).filter((file) => !sources.some((source) => source.file === file));
const elsewhere = new Set(others.flatMap((file) => importsOf({ file, text: readFileSync(join(root, file), 'utf8') })));
const linesOf = ({ text }) => text.split('\n').length - 1;
const kept = new Set(Object.keys(small));
for (const source of sources) {
  const { file } = source;
  const by = new Set(importers.get(file)?.map((each) => each.by));
  const [one] = by;
  if (by.size !== 1 || linesOf(source) >= few || dirname(file) !== dirname(one.file)) continue;
  if (elsewhere.has(file) || linesOf(source) + linesOf(one) > most || kept.delete(file)) continue;
  fail(`${file}: has ${linesOf(source)} lines, and only ${one.file} imports it; move them there`);
}
for (const file of kept) fail(`${file}: is not small with one importer, so scripts/check/habits.mjs need not name it`);
