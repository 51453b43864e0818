import type { Planned } from './plan';

/**
 * What to mind of a document whose manifests go to another namespace than the one it names.
 *
 * @param connects whether its endpoints are still asked
 */
export function noteElsewhere(plan: Planned, connects: boolean): void {
  const { namespace, target, report, kind } = plan.document;
  if (namespace === undefined || namespace === target) return;
  // Of an old cluster no Secret is used.
  if (plan.becomes !== 'cluster' || !plan.old) {
    report.note('metadata.namespace', `is ${target} now; the Secrets that the ${kind} names must be there, too`);
  }
  const endpoints = connects && 'endpoints' in plan ? (plan.endpoints ?? []) : [];
  const short = endpoints.find((endpoint) => !isComplete(endpoint));
  if (short === undefined) return;
  report.note(
    'metadata.namespace',
    `is ${target} now, and there the endpoint ${short} may have another meaning; write its host as NAME.${namespace}.svc`,
  );
}

/** Whether the host means the same in every namespace. */
function isComplete(endpoint: string): boolean {
  const [, host = ''] = /^(?:https?:\/\/)?(\[.*\]|[^:/]*)/.exec(endpoint) ?? [];
  return /^\[|^[\d.]+$|\.svc$|\..+\..+/.test(host);
}
