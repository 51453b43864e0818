// The license notices of the npm packages in a bundle, which whoever passes the bundle on must pass on with it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const isNotice = (name) => /^(un)?licen[cs]e(\.\w+)?$|^(copying|notice)(\.\w+)?$/i.test(name);
const read = (...path) => readFileSync(join(root, ...path), 'utf8');

/** The notices as one text. `metafile` is esbuild's, with paths that are relative to the root of the repository. */
export function thirdPartyLicenses({ outputs }) {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const packages = new Set(files.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => packageOf(path)));
  packages.delete(undefined);
  const namesByText = new Map();
  for (const directory of packages) {
    const { name, version, license, licenses } = JSON.parse(read(directory, 'package.json'));
    const id = license ?? licenses.map(({ type }) => type).join(' OR ');
    const text = textOf(directory, id);
    namesByText.set(text, [...(namesByText.get(text) ?? []), `${name} ${version} (${id})`]);
  }
  const sections = [...namesByText].map(([text, names]) => `${[...new Set(names)].sort().join('\n')}\n\n${text}\n`);
  return sections.sort().join(`\n${'-'.repeat(80)}\n\n`);
}

/** Folder of the package of a file. */
const packageOf = (path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0];

function textOf(directory, id) {
  const names = readdirSync(join(root, directory)).filter(isNotice).sort();
  const texts = names.map((name) => read(directory, name).replace(/\s+$/gm, '').trim());
  // The text of this one is the same for all.
  if (texts.length === 0 && id === 'Apache-2.0') texts.push(read('LICENSE').replace(/\s+$/gm, '').trim());
  if (texts.length === 0) throw new Error(`${directory}: has no license text; the bundle cannot be passed on without`);
  return texts.join('\n\n');
}
