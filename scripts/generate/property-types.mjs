// Writes src/validation/property-types.ts, the types of all properties, from the interfaces that src/index.ts exports. With
// --check it writes nothing, and fails if the file is out of date.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { generated } from '../lib/generated.mjs';
import { root } from '../lib/steps.mjs';

const file = 'src/validation/property-types.ts';

/** What a declaration does not say: where it says `string`, for example, that cdk8s may resolve the text later. */
const special = new Map(
  [
    [
      'manifestText',
      'PodOptions.priorityClassName PodOptions.schedulerName PodOptions.runtimeClassName Toleration.key Toleration.value ' +
        'EtcdVolume.storageClass ServiceFields.loadBalancerClass CertManagerTlsProps.issuer CertManagerTlsProps.peerIssuer',
    ],
    ['objectName', 'EtcdUserOptions.secretName EtcdClientOptions.secretName FilesystemStoreProps.claimName'],
    ['stringMap', 'CommandStoreProps.env EtcdAlertsOptions.labels'],
    [`withExample(text, "an id of your choice, such as '2026-11-21'")`, 'QuorumRecovery.id'],
    [
      `withExample(manifestName, "the name of a Secret, such as 'orders-client'")`,
      'TlsSecrets.peer TlsSecrets.server TlsSecrets.client',
    ],
  ].flatMap(([kind, properties]) => properties.split(' ').map((property) => [property, kind])),
);

const source = join(root, 'src');
const declarations = new Map();
const enums = new Set();
for (const path of readdirSync(source, { recursive: true }).filter((each) => each.endsWith('.ts'))) {
  const text = readFileSync(join(source, path), 'utf8');
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  for (const statement of statements) {
    if (ts.isInterfaceDeclaration(statement)) declarations.set(statement.name.text, statement);
    if (ts.isEnumDeclaration(statement)) enums.add(statement.name.text);
  }
}

const written = new Map();
const helpers = new Set();
const classes = new Set();
const unused = new Set(special.keys());
const exported = readFileSync(join(source, 'index.ts'), 'utf8').match(/\b[A-Z]\w+\b/g);
for (const name of exported.sort()) if (declarations.has(name) && !/^I[A-Z]/.test(name)) write(name);
if (unused.size > 0) throw new Error(`${[...unused].join(', ')}: no interface has this property`);

const byName = (...names) => {
  const [a, b] = names.map((name) => name.replace('type ', '').toLowerCase());
  return a < b ? -1 : 1;
};

generated(file, () =>
  [
    '// Written by `npm run generate` from the interfaces of the public API.',
    '// biome-ignore-all format: one line a property would be long',
    filled('import {', [...classes].sort(), "} from './class-types';"),
    filled('import {', [...helpers, 'type PropertyTypes'].sort(byName), "} from './type-checks';\n"),
    ...[...written].map(([name, members]) => filled(`export const ${name}: PropertyTypes = {`, members, '};')),
    '',
  ].join('\n'),
);

/** Adds an interface, after those that it mentions. */
function write(name) {
  if (written.has(name)) return;
  const { heritageClauses = [], members } = declarations.get(name);
  const parents = heritageClauses.flatMap(({ types }) => types.map((each) => each.getText()));
  parents.forEach(write);
  const own = members.filter(ts.isPropertySignature).map(({ name: property, type, questionToken }) => {
    const kind = kindOf(type, `${name}.${property.text}`);
    return `${property.text}: ${questionToken ? kind : `${helper('required')}(${kind})`}`;
  });
  written.set(name, [...parents.map((each) => `...${each}`), ...own]);
}

function kindOf(type, property) {
  if (property.includes('._')) return helper('anything');
  unused.delete(property);
  const given = special.get(property);
  if (given) {
    for (const [name] of given.matchAll(/^\w+|(?<=\()\w+/g)) helper(name);
    return given;
  }
  if (ts.isTypeOperatorNode(type) || ts.isParenthesizedTypeNode(type)) return kindOf(type.type, property);
  if (ts.isArrayTypeNode(type)) return `${helper('list')}(${kindOf(type.elementType, property)})`;
  if (ts.isTypeLiteralNode(type)) return helper('object');
  const text = type.getText();
  if (text === 'string') return helper('text');
  if (text === 'number' || text === 'boolean') return helper(text);
  if (text === 'string | INamed') return helper('manifestName');
  if (enums.has(text)) return helper('text');
  if (!declarations.has(text) || /^I[A-Z]/.test(text)) {
    classes.add(text);
    return text;
  }
  write(text);
  return `${helper('shape')}(${text})`;
}

function helper(name) {
  helpers.add(name);
  return name;
}

/** Returns the members between two brackets, in lines of at most 130 characters. */
function filled(open, members, close) {
  const whole = `${open} ${members.join(', ')} ${close}`;
  if (whole.length <= 130) return whole;
  const lines = [''];
  for (const member of members) {
    if (`${lines.at(-1)} ${member},`.length > 129) lines.push('');
    lines.push(`${lines.pop()} ${member},`);
  }
  return [open, ...lines.map((line) => ` ${line}`), close].join('\n');
}
