/** Where a crash is tried: the tests stop a gate right after each of these. */
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

/** The same of the sidecar. */
export const serveSteps = [
  'wal.seen',
  'config.sealed',
  'identity.sealed',
  'identity.verified',
  'cache.written',
] as const;

export type GateStep = (typeof gateSteps)[number];
export type ServeStep = (typeof serveSteps)[number];
export type Step = GateStep | ServeStep;

/** Called right after each step; nothing happens before it is done. */
export type AtStep = (step: Step) => void | Promise<void>;
