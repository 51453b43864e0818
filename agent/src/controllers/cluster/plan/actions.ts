import { bootstrap } from '../operations/bootstrap.ts';
import { deletion, deletionWithoutRecord, finalizer } from '../operations/deletion.ts';
import { ephemeral } from '../operations/ephemeral.ts';
import { firstRecordRows } from '../operations/first-record.ts';
import { freeNode } from '../operations/free-node.ts';
import { hash } from '../operations/hash.ts';
import { barriers, holds } from '../operations/holds.ts';
import { jobs } from '../operations/jobs.ts';
import { join } from '../operations/join.ts';
import { noSpace } from '../operations/no-space.ts';
import { permits } from '../operations/permits.ts';
import { recovery } from '../operations/recovery.ts';
import { remove } from '../operations/remove.ts';
import { repair } from '../operations/repair.ts';
import { restart } from '../operations/restart.ts';
import { restartBroken } from '../operations/restart-broken.ts';
import { restoreFence } from '../operations/restore-fence.ts';
import { restoreRequest } from '../operations/restore-request.ts';
import { restoreSeed } from '../operations/restore-seed.ts';
import { restoreVerify } from '../operations/restore-verify.ts';
import { scale } from '../operations/scale.ts';
import { settle } from '../operations/settle.ts';
import { upgrade } from '../operations/upgrade.ts';
import type { AnyRow } from './row.ts';

const byPriority = (rows: AnyRow[]): AnyRow[] => rows.sort((a, b) => a.priority - b.priority);

/** Without a record: the first one, or the lost one again. */
export const rowsWithoutRecord: readonly AnyRow[] = byPriority([
  ...finalizer,
  ...holds,
  ...deletionWithoutRecord,
  ...firstRecordRows,
]);

/** The action table. Order of rows of equal priority is the order here. */
export const rows: readonly AnyRow[] = byPriority([
  ...holds,
  ...bootstrap,
  ...finalizer,
  ...deletion,
  ...recovery,
  ...restoreRequest,
  ...restoreVerify,
  ...restoreFence,
  ...restoreSeed,
  ...jobs,
  ...repair,
  ...permits,
  ...join,
  ...remove,
  ...scale,
  ...restart,
  ...restartBroken,
  ...freeNode,
  ...ephemeral,
  ...noSpace,
  ...upgrade,
  ...settle,
  ...hash,
  ...barriers,
]);
