import type { Verb } from './verb.ts';
import { backup } from './verbs/backup.ts';
import { backups } from './verbs/backups.ts';
import { certs } from './verbs/certs.ts';
import { completion } from './verbs/completion.ts';
import { ctl } from './verbs/ctl.ts';
import { defrag } from './verbs/defrag.ts';
import { explain } from './verbs/explain.ts';
import { list } from './verbs/list.ts';
import { logs } from './verbs/logs.ts';
import { moveLeader } from './verbs/move-leader.ts';
import { pause, resume } from './verbs/pause.ts';
import { render } from './verbs/render.ts';
import { replace } from './verbs/replace.ts';
import { report } from './verbs/report.ts';
import { restart } from './verbs/restart.ts';
import { restore } from './verbs/restore.ts';
import { status } from './verbs/status.ts';
import { users } from './verbs/users.ts';
import { verify } from './verbs/verify.ts';

/** In the order of the help. */
export const verbs: readonly Verb[] = [
  ...[status, list, explain, certs, users, logs, report],
  ...[backup, backups, verify, restore, restart, replace, moveLeader, defrag, pause, resume],
  ...[ctl, render, completion],
];
