import { messageOf } from '../../lib/errors.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { isNewer } from '../record/record-cache.ts';
import type { RecordSource } from '../record/record-source.ts';
import type { VersionRefusal } from '../version-rule.ts';

/** The newest record that a pod has seen, and the problem of the last read. */
export class RecordWatch {
  readonly #source: RecordSource;
  #newest: RecordDoc | undefined;
  /** True if the last read succeeded and returned the newest record. */
  #live = false;
  #problem: VersionRefusal | undefined;
  #readAt: number | undefined;

  constructor(source: RecordSource, cache: RecordDoc | undefined) {
    this.#source = source;
    this.#newest = cache;
  }

  get newest(): RecordDoc | undefined {
    return this.#newest;
  }

  /** The record, if the last read returned it. A permit is valid only in this record. */
  get live(): RecordDoc | undefined {
    return this.#live ? this.#newest : undefined;
  }

  get problem(): VersionRefusal | undefined {
    return this.#problem;
  }

  /** Time of the last successful read, ms. */
  get readAt(): number | undefined {
    return this.#readAt;
  }

  /** Reads the record once. `clusterUid` is the cluster of the data on the volume. Returns true if the record is newer than before. */
  async read(clusterUid: string | undefined, signal: AbortSignal): Promise<boolean> {
    const found = await this.#read(signal);
    const problem = 'reason' in found ? found : this.#refusal(found, clusterUid);
    this.#problem = problem;
    this.#live = problem === undefined;
    if ('reason' in found || problem) return false;
    this.#readAt = Date.now();
    const newer = !this.#newest || isNewer(found, this.#newest);
    if (newer) this.#newest = found;
    return newer;
  }

  async #read(signal: AbortSignal): Promise<RecordDoc | VersionRefusal> {
    try {
      const answer = await this.#source.read(signal);
      if (answer.kind === 'record') return answer.doc;
      if (answer.kind === 'refused') return { reason: 'RecordNotUnderstood', message: answer.reason };
      return { reason: 'NoRecord', message: 'waiting for the reconciler to create the record' };
    } catch (error) {
      return { reason: 'RecordUnreachable', message: `the record could not be read: ${messageOf(error)}` };
    }
  }

  #refusal(doc: RecordDoc, clusterUid: string | undefined): VersionRefusal | undefined {
    if (clusterUid !== undefined && doc.clusterUid !== clusterUid)
      return {
        reason: 'ForeignRecord',
        message: `the record belongs to cluster ${doc.clusterUid}, but the volume belongs to ${clusterUid}; the record is ignored`,
      };
    const last = this.#newest;
    if (last && doc.rev !== last.rev && !isNewer(doc, last))
      return {
        reason: 'RecordRolledBack',
        message: `the record has rev ${doc.rev}, but this pod has already seen rev ${last.rev}; the record is ignored`,
      };
    return undefined;
  }
}
