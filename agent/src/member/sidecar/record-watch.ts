import { messageOf } from '../../lib/errors.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { isNewer } from '../record/record-cache.ts';
import type { RecordSource } from '../record/record-source.ts';
import type { Refusal } from '../version-rule.ts';

/** The newest record that a pod has seen, and why it has none newer. */
export class RecordWatch {
  readonly #source: RecordSource;
  #newest: RecordDoc | undefined;
  /** The newest record is what was read last, not what was seen before. */
  #live = false;
  #problem: Refusal | undefined;
  #readAt: number | undefined;

  constructor(source: RecordSource, cache: RecordDoc | undefined) {
    this.#source = source;
    this.#newest = cache;
  }

  get newest(): RecordDoc | undefined {
    return this.#newest;
  }

  /** Only on this a permit is honoured. */
  get live(): RecordDoc | undefined {
    return this.#live ? this.#newest : undefined;
  }

  get problem(): Refusal | undefined {
    return this.#problem;
  }

  /** When it was last read, ms. */
  get readAt(): number | undefined {
    return this.#readAt;
  }

  /** One read; `clusterUid`: whose data the volume holds. True when there is a newer record than before. */
  async read(clusterUid: string | undefined, signal: AbortSignal): Promise<boolean> {
    const found = await this.#read(signal);
    const problem = 'reason' in found ? found : this.#objection(found, clusterUid);
    this.#problem = problem;
    this.#live = problem === undefined;
    if ('reason' in found || problem) return false;
    this.#readAt = Date.now();
    const newer = !this.#newest || isNewer(found, this.#newest);
    if (newer) this.#newest = found;
    return newer;
  }

  async #read(signal: AbortSignal): Promise<RecordDoc | Refusal> {
    try {
      const answer = await this.#source.read(signal);
      if (answer.kind === 'record') return answer.doc;
      if (answer.kind === 'refused') return { reason: 'RecordNotUnderstood', message: answer.reason };
      return { reason: 'NoRecord', message: 'there is no record; the reconciler makes it' };
    } catch (error) {
      return { reason: 'RecordUnreachable', message: `the record could not be read: ${messageOf(error)}` };
    }
  }

  #objection(doc: RecordDoc, clusterUid: string | undefined): Refusal | undefined {
    if (clusterUid !== undefined && doc.clusterUid !== clusterUid)
      return {
        reason: 'ForeignRecord',
        message: `the record is of cluster ${doc.clusterUid}, and the volume of ${clusterUid}; it is not followed`,
      };
    const last = this.#newest;
    if (last && doc.rev !== last.rev && !isNewer(doc, last))
      return {
        reason: 'RecordRolledBack',
        message: `the record has rev ${doc.rev}, and this pod has seen rev ${last.rev}; it is not followed`,
      };
    return undefined;
  }
}
