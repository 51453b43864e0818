import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './guides';
import type { Manifest } from './synth';

/** Rights of an account, one per line and sorted: verb, resource with its group, name or `*`. */
export type Rights = readonly string[];

const guide = 'docs/operations/security-model.md';

/** The table of rights in the guide: by account, in the words of `kubectl auth can-i --list`. */
export function guideRights(): Map<string, Rights> {
  const text = readFileSync(join(root, guide), 'utf8');
  const sections = text.split(/^#### ServiceAccount `/m).slice(1);
  return new Map(
    sections.map((section) => {
      const [, account = '', content = ''] = /^([^`]+)`\n(.*?)(?=^#|$(?![\s\S]))/ms.exec(section) ?? [];
      return [account, rights([...content.matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|/gm)].flatMap(rowRights))];
    }),
  );
}

function rowRights([, resource, names, verbs]: RegExpMatchArray): string[] {
  const all = names!.split(', ').map((name) => (name === 'all' ? '*' : name.replaceAll('`', '')));
  return all.flatMap((name) => verbs!.split(', ').map((verb) => `${verb} ${resource} ${name}`));
}

/** The rights that Roles give to an account. */
export function grantedRights(manifests: readonly Manifest[], account: string): Rights {
  const roles = manifests
    .filter(({ kind, subjects }) => kind === 'RoleBinding' && subjects.some(({ name }: Manifest) => name === account))
    .map(({ roleRef }) => roleRef.name);
  const rules = manifests
    .filter(({ kind, metadata }) => kind === 'Role' && roles.includes(metadata.name))
    .flatMap(({ rules }) => rules);
  return rights(
    rules.flatMap(({ apiGroups: [group], resources, resourceNames = ['*'], verbs }: Manifest) =>
      resources.flatMap((resource: string) =>
        resourceNames.flatMap((name: string) =>
          verbs.map((verb: string) => `${verb} ${qualified(resource, group)} ${name}`),
        ),
      ),
    ),
  );
}

function qualified(resource: string, group: string): string {
  const [plural, ...subresource] = resource.split('/');
  return [group ? `${plural}.${group}` : plural, ...subresource].join('/');
}

/** The rights in the answer of `kubectl auth can-i --list`. */
export function listedRights(output: string): Rights {
  const rows = output.matchAll(/^(\S*)\s+\[(.*?)\]\s+\[(.*?)\]\s+\[(.*?)\]$/gm);
  return rights(
    [...rows].flatMap(([, resource, urls, names, verbs]) =>
      (names || '*')
        .split(' ')
        .flatMap((name) => verbs!.split(' ').map((verb) => `${verb} ${resource || urls} ${name}`)),
    ),
  );
}

/** The rows of a table in the guide. */
export function rows(found: Rights): string[] {
  const verbs = grouped(
    found.map((right) => {
      const [, verb = '', what = ''] = /^(\S+) (.*)$/.exec(right) ?? [];
      return [what, verb];
    }),
  );
  const names = grouped(
    [...verbs].map(([what, each]) => {
      const [resource, name] = what.split(' ');
      return [JSON.stringify([resource, each.join(', ')]), name === '*' ? 'all' : `\`${name}\``];
    }),
  );
  return [...names].map(([key, each]) => {
    const [resource, verbs] = JSON.parse(key);
    return `| \`${resource}\` | ${each.join(', ')} | ${verbs} |`;
  });
}

function grouped(pairs: readonly (readonly [string, string])[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [key, value] of pairs) groups.set(key, [...(groups.get(key) ?? []), value]);
  return groups;
}

const rights = (found: readonly string[]): Rights => [...new Set(found)].sort((a, b) => (order(a) < order(b) ? -1 : 1));

/** Sorts by resource, then by verb. */
const order = (right: string): string => right.replace(/^(\S+) (.*)$/, '$2 $1');
