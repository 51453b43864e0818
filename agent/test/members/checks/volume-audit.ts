import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from '../../../src/protocol/agent-status.ts';

/** Inspects the volumes repeatedly, and remembers their content. */
export class VolumeAudit implements Disposable {
  readonly #volumes: () => readonly string[];
  readonly #timer: NodeJS.Timeout;
  /** By volume: the inodes of its data directories. */
  readonly #dataDirs = new Map<string, Set<number>>();
  readonly #clusterIds = new Map<number, Set<string>>();
  readonly #volumeIds = new Map<string, Set<string>>();

  /** `volumes` are the directories that hold `etcd/` and `identity.json`. */
  constructor(volumes: () => readonly string[], every = 100) {
    this.#volumes = volumes;
    this.#timer = setInterval(() => this.look(), every);
  }

  look(): void {
    for (const volume of this.#volumes()) {
      const inode = inodeOf(join(volume, 'etcd'));
      if (inode !== undefined) add(this.#dataDirs, volume, inode);
      const identity = identityOf(volume);
      if (identity?.state !== 'sealed') continue;
      if (identity.clusterId) add(this.#clusterIds, identity.epoch, identity.clusterId);
      if (identity.memberId) add(this.#volumeIds, identity.memberId, identity.volumeId);
    }
  }

  /** Each epoch has one cluster id, and clients saw no other (protocol.md: OneClusterIdPerEpoch). */
  clusterIds(seenByClients: readonly string[]): string[] {
    const all = [...this.#clusterIds];
    const known = new Set(all.flatMap(([, ids]) => [...ids]));
    return [
      ...all
        .filter(([, ids]) => ids.size > 1)
        .map(([epoch, ids]) => `OneClusterIdPerEpoch: epoch ${epoch} has clusters ${[...ids]}`),
      ...seenByClients.filter((id) => !known.has(id)).map((id) => `OneClusterIdPerEpoch: cluster ${id} is of no epoch`),
    ];
  }

  /** A member id was on one volume only (protocol.md: OneVolumePerMember). */
  memberIds(): string[] {
    const shared = [...this.#volumeIds].filter(([, volumeIds]) => volumeIds.size > 1);
    return shared.map(
      ([id, volumeIds]) =>
        `OneVolumePerMember: member ${id} was on the volumes of volumeIds ${[...volumeIds].join(' and ')}`,
    );
  }

  /** Each data directory of a volume that still exists is in its place or in quarantine (protocol.md: NoDataDeleted). */
  dataDirsKept(lost: readonly string[]): string[] {
    return [...this.#dataDirs]
      .filter(([volume]) => !lost.includes(volume) && inodeOf(volume) !== undefined)
      .flatMap(([volume, inodes]) => {
        const there = new Set([join(volume, 'etcd'), ...setAside(volume)].map(inodeOf));
        const gone = [...inodes].filter((inode) => !there.has(inode));
        return gone.map((inode) => `NoDataDeleted: a data directory of ${volume} (inode ${inode}) was deleted`);
      });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

const add = <K, V>(map: Map<K, Set<V>>, key: K, value: V) => map.set(key, (map.get(key) ?? new Set()).add(value));

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function setAside(volume: string): string[] {
  const aside = join(volume, 'quarantine');
  return listed(aside).flatMap((one) => listed(join(aside, one)).map((what) => join(aside, one, what)));
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function identityOf(volume: string): Identity | undefined {
  try {
    return JSON.parse(readFileSync(join(volume, 'identity.json'), 'utf8'));
  } catch {
    return undefined;
  }
}
