import { messageOf } from '../../lib/errors.ts';
import type { LogOnce } from '../../lib/log-once.ts';
import type { Identity } from '../../protocol/agent-status.ts';
import type { Permit, RecordDoc } from '../../protocol/record.ts';
import { permitConfig, sealConfig, type Written } from '../etcd-config.ts';
import { writeIdentity } from '../identity.ts';
import type { MemberConfig } from '../member-config.ts';
import { cacheRecord } from '../record/record-cache.ts';
import { writeVolumeId } from '../volume-id.ts';

/** Writes the sidecar's files. A failed write, as on a full disk, returns false; the next observation tries again. */
export class MemberFiles {
  /** The identity on the volume. */
  identity: Identity | undefined;
  readonly #config: MemberConfig;
  readonly #problems: LogOnce;

  constructor(config: MemberConfig, problems: LogOnce) {
    this.#config = config;
    this.#problems = problems;
  }

  async saveIdentity(identity: Identity): Promise<boolean> {
    if (JSON.stringify(identity) === JSON.stringify(this.identity)) return true;
    const isWritten = await this.#write('identity.json', () => writeIdentity(this.#config.dataDir, identity));
    if (isWritten) this.identity = identity;
    return isWritten;
  }

  seal(identity: Identity): Promise<boolean> {
    return this.#configure(() => sealConfig(this.#config, identity));
  }

  permit(permit: Permit): Promise<boolean> {
    return this.#configure(() => permitConfig(this.#config, permit));
  }

  cache(doc: RecordDoc): Promise<boolean> {
    return this.#write('record-cache.json', () => cacheRecord(this.#config.dataDir, doc));
  }

  newVolumeId(): Promise<boolean> {
    return this.#write('volumeId', () => writeVolumeId(this.#config.dataDir));
  }

  #configure(write: () => Promise<Written>): Promise<boolean> {
    return this.#write('etcd.yaml', async () => {
      const isEdited = (await write()) === 'edited';
      this.#problems.report('edited', isEdited ? 'etcd.yaml was edited by hand and has been overwritten' : undefined);
    });
  }

  async #write(what: string, write: () => Promise<unknown>): Promise<boolean> {
    try {
      await write();
      this.#problems.report(what, undefined);
      return true;
    } catch (error) {
      this.#problems.report(what, `cannot write ${what}: ${messageOf(error)}`);
      return false;
    }
  }
}
