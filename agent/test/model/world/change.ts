import type { Claim, Pod, Volume, World } from './world.ts';

/** Takes the next id of this kind. */
export function fresh(world: World, kind: string): [World, string] {
  return [{ ...world, seq: world.seq + 1 }, `${kind}#${world.seq}`];
}

function replaced<T>(list: readonly T[], at: number, value: T): T[] {
  const copy = list.slice();
  copy[at] = value;
  return copy;
}

export const withPod = (w: World, i: number, pod: Pod | null): World => ({ ...w, pods: replaced(w.pods, i, pod) });
export const withClaim = (w: World, i: number, claim: Claim | null): World => ({
  ...w,
  claims: replaced(w.claims, i, claim),
});
export const withVolume = (w: World, i: number, volume: Volume | null): World => ({
  ...w,
  volumes: replaced(w.volumes, i, volume),
});

export function violated(world: World, violation: string): World {
  return world.truth.violation ? world : { ...world, truth: { ...world.truth, violation } };
}

/** 3.5.30 → 5. */
export const minorOf = (version: string): number => Number(version.split('.')[1]);
