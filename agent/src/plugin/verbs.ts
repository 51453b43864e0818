import type { Verb } from './verb.ts';
import { backup } from './verbs/backup.ts';
import { backups } from './verbs/backups.ts';
import { explain } from './verbs/explain.ts';
import { list } from './verbs/list.ts';
import { pause, resume } from './verbs/pause.ts';
import { replace } from './verbs/replace.ts';
import { restart } from './verbs/restart.ts';
import { status } from './verbs/status.ts';

/** In the order of the help. */
export const verbs: readonly Verb[] = [status, list, explain, backup, backups, restart, replace, pause, resume];
