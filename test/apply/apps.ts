import { files } from '../manifests';
import type { Manifest } from '../synth';
import { broadApp, smallApp } from './broad-app';

export interface App {
  readonly name: string;
  readonly manifests: readonly Manifest[];
}

export const small: App = { name: 'an app of one line', manifests: smallApp() };
const broad: App = { name: 'an app with every option', manifests: broadApp() };

/** Every file of dist/, every app of examples/, and two further apps. */
export const apps: readonly App[] = [...grouped(), small, broad];

function grouped(): App[] {
  const byName = new Map<string, Manifest[]>();
  for (const { file, manifests } of files) {
    const name = /^examples\/[^/]+/.exec(file)?.[0] ?? file;
    byName.set(name, [...(byName.get(name) ?? []), ...manifests]);
  }
  return [...byName].map(([name, manifests]) => ({ name, manifests }));
}
