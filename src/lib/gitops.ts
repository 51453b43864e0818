/**
 * Argo CD and Flux do not delete an object with these annotations when it leaves their repository. Without the first, Argo CD's
 * self-heal would try to without end.
 */
export const protection: Readonly<Record<string, string>> = {
  'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
};

/** Argo CD applies an object with this annotation, and waits for it, before it applies those without one. */
export const first: Readonly<Record<string, string>> = { 'argocd.argoproj.io/sync-wave': '-1' };

/** Returns true if at least one of Argo CD and Flux keeps the object: nobody applies it with both. */
export function isProtected(annotations: Readonly<Record<string, string>> = {}): boolean {
  const options = (annotations['argocd.argoproj.io/sync-options'] ?? '').split(',').map((option) => option.trim());
  // The first is for an object that leaves the repository, the second for the end of the Application.
  const isKeptByArgo = ['Prune=false', 'Delete=false'].every((option) => options.includes(option));
  return isKeptByArgo || annotations['kustomize.toolkit.fluxcd.io/prune'] === 'disabled';
}
