/** Steps of the gate. The tests stop a gate right after each of them. */
export const gateSteps = [
  'volumeId.written',
  'volumeId.removed',
  'quarantine.moved',
  'quarantine.identity',
  'leftover.moved',
  'identity.permitted',
  'config.permitted',
  'restore.fetched',
  'restore.made',
  'restore.renamed',
  'identity.restored',
  'identity.started',
  'config.sealed',
  'salvage.copied',
  'salvage.made',
] as const;

/** Steps of the sidecar. */
export const serveSteps = [
  'wal.seen',
  'config.sealed',
  'identity.sealed',
  'identity.verified',
  'cache.written',
] as const;

export type GateStep = (typeof gateSteps)[number];
export type ServeStep = (typeof serveSteps)[number];
export type MemberStep = GateStep | ServeStep;

/** Called right after each step. The caller waits for it before it continues. */
export type AtStep = (step: MemberStep) => void | Promise<void>;
