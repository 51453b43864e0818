import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

// The files have no ending, so that `kubectl apply -f dist/` passes over them.
const name = 'Kustomization';
const api = 'kustomize.config.k8s.io';

/** Makes the directory a base for Kustomize, with these of its files. */
export function writeBase(directory: string, files: readonly string[]): void {
  write(
    directory,
    `The custom resources and the reconciler, as a base for Kustomize. Set the namespace in your own kustomization.
The directories in components/ add to it.`,
    `apiVersion: ${api}/v1beta1
kind: Kustomization
${list(files)}`,
  );
}

/** Makes the directory a component for Kustomize. */
export function writeComponent(directory: string, about: string, files: readonly string[]): void {
  write(directory, about, `apiVersion: ${api}/v1alpha1\nkind: Component\n${list(files)}`);
}

const list = (files: readonly string[]): string => `resources:\n${files.map((file) => `  - ${file}\n`).join('')}`;

function write(directory: string, about: string, yaml: string): void {
  writeFileSync(join(directory, name), `${about.replace(/^/gm, '# ')}\n${yaml}`);
}
