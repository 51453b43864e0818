import type { Duration } from 'cdk8s';
import { durationProblem } from '../../lib/duration';
import { goDuration } from '../../lib/go-duration';
import { built } from '../../validation/kinds';
import { periodicKinds } from '../../validation/property-kinds';

/**
 * What etcd forgets by itself. It keeps every revision of every key until they are compacted, so without compaction the
 * database grows until its quota is reached. The current value of a key is never forgotten.
 */
export class AutoCompaction {
  /** Forgets what is older than this. A watch that was away for longer has to read anew. */
  static periodic(retention: Duration): AutoCompaction {
    return built(
      AutoCompaction.prototype,
      { retention },
      periodicKinds,
      () => new AutoCompaction('periodic', goDuration(retention), durationProblem('autoCompaction', retention)),
    );
  }

  /** Keeps the last revisions, whatever their age. */
  static revisions(count: number): AutoCompaction {
    const valid = Number.isSafeInteger(count) && count > 0;
    return new AutoCompaction(
      'revision',
      String(count),
      valid ? undefined : `autoCompaction: ${count} revisions are none; give a whole number of at least 1`,
    );
  }

  /** Keeps every revision: for those whose application compacts by itself. */
  static disabled(): AutoCompaction {
    return new AutoCompaction('periodic', '0');
  }

  private constructor(
    private readonly mode: string,
    private readonly retention: string,
    private readonly problem?: string,
  ) {}

  /** @internal */
  _settings(): { [key: string]: string } {
    return { 'auto-compaction-mode': this.mode, 'auto-compaction-retention': this.retention };
  }

  /** @internal */
  _problems(): string[] {
    return this.problem === undefined ? [] : [this.problem];
  }
}
