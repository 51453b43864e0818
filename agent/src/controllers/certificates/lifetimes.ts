import type { Span } from './facts.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/**
 * How long each kind is valid, in ms. `clients`: how long they have to read new files while a root is replaced;
 * `revocation`: while an intermediate is revoked, which has to be soon. A kubelet takes up to about two minutes. `silence`: how
 * long a revocation waits for a few that lack their new certificate, or do not say that they have it.
 */
export const lifetimes = {
  ...{ root: 3650 * day, intermediate: 365 * day, leaf: 90 * day },
  ...{ clients: 60 * minute, revocation: 3 * minute, silence: 10 * minute },
} as const;

/** Certificates begin in the past, for clocks that are behind. */
export const backdated = 60 * minute;

/** A certificate never outlives its issuer. */
export const endOf = (lifetime: number, now: number, issuer: Pick<Span, 'notAfter'> | undefined): number =>
  Math.min(now + lifetime, issuer?.notAfter ?? Number.POSITIVE_INFINITY);

/** Two thirds of its life. */
export const dueAt = ({ notBefore, notAfter }: Span): number => notBefore + ((notAfter - notBefore) * 2) / 3;
