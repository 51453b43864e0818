import { mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { sync } from '../../lib/files/directories.ts';
import { cannotWrite, ifThere } from '../../lib/files/file-faults.ts';
import { replaceFile } from '../../lib/files/replace-file.ts';
import type { EtcdNode } from '../node/node.ts';
import type { Prepared } from './prepare.ts';

export const JOURNAL_SCHEMA = 'cdk8s-etcd/control-plane-restore/v1';
const FILE = 'journal.json';
const PREFIX = 'etcd-restore-';

/** Progress of a restore. A state names the last step that has certainly finished; the next one may have begun. */
export const states = ['prepared', 'stopped', 'replaced', 'starting', 'served', 'done', 'undoing', 'undone'] as const;
export type JournalState = (typeof states)[number];

/** Facts that a run needs about the previous run on this node. */
export interface JournalContent extends Prepared {
  readonly schema: typeof JOURNAL_SCHEMA;
  readonly state: JournalState;
  readonly startedAt: string;
  /** Key by which the snapshot was requested; empty if it was not by a key. Undefined in a journal of an earlier agent. */
  readonly objectKey?: string;
  readonly node: EtcdNode;
  readonly manifestsDir: string;
  /** Directory to which the old data are moved. */
  readonly replacedDir: string;
  /** Note to write to the store once etcd is stopped; until then everything may be put back. `agreed`: key of the number on which the nodes agreed. An earlier agent removed a note that was written. */
  readonly note?: {
    readonly key: string;
    readonly from: string;
    readonly agreed?: string;
    readonly isWritten?: boolean;
  };
  readonly etcdStartedAt?: string;
  readonly servedAt?: string;
}

/** A dated folder with the journal and the manifests that were moved out. */
export class Journal {
  readonly folder: string;
  #content: JournalContent;

  private constructor(folder: string, content: JournalContent) {
    this.folder = folder;
    this.#content = content;
  }

  get content(): JournalContent {
    return this.#content;
  }

  get manifests(): string {
    return join(this.folder, 'manifests');
  }

  async set(change: Partial<JournalContent>): Promise<void> {
    const content = { ...this.#content, ...change };
    await replaceFile(join(this.folder, FILE), `${JSON.stringify(content, null, 2)}\n`);
    this.#content = content;
  }

  /** Removes the journal, as if the restore had never begun. A folder that still contains a manifest remains. */
  async discard(): Promise<void> {
    await rm(join(this.folder, FILE), { force: true });
    await removeUnused(this.folder);
  }

  /** Begins a new journal in a dated folder in `parent`. */
  static async begin(parent: string, content: JournalContent): Promise<Journal> {
    const name = `${PREFIX}${stampOf(new Date(content.startedAt))}`;
    const [last] = (await foldersIn(parent)).map((folder) => basename(folder));
    // The newest journal must sort last, even if the clock went back.
    const folder = await newFolder(parent, last !== undefined && last >= name ? `${last}-1` : name);
    const journal = new Journal(folder, content);
    await journal.set({});
    await sync(parent);
    return journal;
  }

  /** Returns the newest journal in `parent`. */
  static async newest(parent: string): Promise<Journal | undefined> {
    return (await Journal.all(parent))[0];
  }

  /** Returns all journals in `parent`, the newest first. */
  static async all(parent: string): Promise<Journal[]> {
    const found: Journal[] = [];
    for (const folder of await foldersIn(parent)) {
      const content = await readContent(folder);
      if (content) found.push(new Journal(folder, content));
    }
    return found;
  }

  /** Removes unused folders of killed runs. Requires the node lock, because an unused folder may belong to a run that has just begun. */
  static async tidy(parent: string): Promise<void> {
    for (const folder of await foldersIn(parent)) if (!(await readContent(folder))) await removeUnused(folder);
  }
}

async function foldersIn(parent: string): Promise<string[]> {
  const names = ((await ifThere(parent, readdir(parent), 'it holds the journals of restores; check it')) ?? []).filter(
    (name) => name.startsWith(PREFIX),
  );
  return names
    .sort()
    .reverse()
    .map((name) => join(parent, name));
}

async function newFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  // A file in its place is EEXIST too, for whatever name lies below it.
  await mkdir(parent, { recursive: true }).catch((error) => {
    throw cannotWrite(parent, error);
  });
  try {
    await mkdir(folder, { mode: 0o700 });
    await mkdir(join(folder, 'manifests'), { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return newFolder(parent, `${name}-1`);
    throw cannotWrite(folder, error);
  }
  await sync(folder);
  return folder;
}

async function readContent(folder: string): Promise<JournalContent | undefined> {
  const file = join(folder, FILE);
  const so = `if its restore has ended, move ${folder} elsewhere`;
  const text = await ifThere(file, readFile(file, 'utf8'), so);
  if (text === undefined) return undefined;
  const content = parsed(text);
  if (!content) {
    throw new AgentError(
      ExitCode.refused,
      `${file} is truncated or damaged; if its restore has ended, move ${folder} elsewhere; otherwise ${join(folder, 'manifests')} contains the original manifests`,
    );
  }
  if (content.schema === JOURNAL_SCHEMA) return content;
  throw new AgentError(
    ExitCode.refused,
    `${file} was written by another version of the agent; finish the restore with that version`,
  );
}

function parsed(text: string): JournalContent | undefined {
  try {
    const content = JSON.parse(text);
    return typeof content === 'object' && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

async function removeUnused(folder: string): Promise<void> {
  await rm(join(folder, `${FILE}.tmp`), { force: true });
  // rmdir leaves a folder that is not empty.
  await rmdir(join(folder, 'manifests')).catch(() => {});
  await rmdir(folder).catch(() => {});
}

/** Formats a time in UTC, such as `20261122-031500`. */
export const stampOf = (time: Date): string =>
  time
    .toISOString()
    .replaceAll(/[-:]|\.\d+Z$/g, '')
    .replace('T', '-');
