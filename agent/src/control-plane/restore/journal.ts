import { mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { sync } from '../../lib/files/directories.ts';
import { replaceFile } from '../../lib/files/replace-file.ts';
import type { EtcdNode } from '../node/node.ts';
import type { Prepared } from './prepare.ts';

export const JOURNAL_SCHEMA = 'cdk8s-etcd/control-plane-restore/v1';
const FILE = 'journal.json';
const PREFIX = 'etcd-restore-';

/** How far a restore came. Each says what was done for sure; the next step may have begun. */
export const states = ['prepared', 'stopped', 'replaced', 'starting', 'served', 'done', 'undoing', 'undone'] as const;
export type State = (typeof states)[number];

/** What a run has to know of the one before it, on this node. */
export interface JournalContent extends Prepared {
  readonly schema: typeof JOURNAL_SCHEMA;
  readonly state: State;
  readonly startedAt: string;
  readonly node: EtcdNode;
  readonly manifestsDir: string;
  /** Where the old data lie, once they were moved. */
  readonly aside: string;
  /** What the store is told once the old etcd is out: before, all may be put back. Undefined: it was told. */
  readonly note?: { readonly key: string; readonly from: string };
  readonly etcdStartedAt?: string;
  readonly servedAt?: string;
}

/** A dated folder with a journal and the manifests that were moved there. */
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

  /** As if it had never begun; a folder that still holds a manifest stays. */
  async discard(): Promise<void> {
    await rm(join(this.folder, FILE), { force: true });
    await removeUnused(this.folder);
  }

  /** A new one in a dated folder in `parent`. */
  static async begin(parent: string, content: JournalContent): Promise<Journal> {
    const name = `${PREFIX}${stampOf(new Date(content.startedAt))}`;
    const [last] = (await foldersIn(parent)).map((folder) => basename(folder));
    // Where the clock went back, too, the last one begun is the newest.
    const folder = await newFolder(parent, last !== undefined && last >= name ? `${last}-1` : name);
    const journal = new Journal(folder, content);
    await journal.set({});
    await sync(parent);
    return journal;
  }

  /** The newest one in `parent`. */
  static async newest(parent: string): Promise<Journal | undefined> {
    return (await Journal.all(parent))[0];
  }

  /** All in `parent`, the newest first. */
  static async all(parent: string): Promise<Journal[]> {
    const found: Journal[] = [];
    for (const folder of await foldersIn(parent)) {
      const content = await readContent(folder);
      if (content) found.push(new Journal(folder, content));
    }
    return found;
  }

  /** Removes folders that a killed run made and never used; only for whoever has the node's lock, as one may be new. */
  static async tidy(parent: string): Promise<void> {
    for (const folder of await foldersIn(parent)) if (!(await readContent(folder))) await removeUnused(folder);
  }
}

async function foldersIn(parent: string): Promise<string[]> {
  const names = (await readdir(parent).catch((): string[] => [])).filter((name) => name.startsWith(PREFIX));
  return names
    .sort()
    .reverse()
    .map((name) => join(parent, name));
}

async function newFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  try {
    await mkdir(parent, { recursive: true });
    await mkdir(folder, { mode: 0o700 });
    await mkdir(join(folder, 'manifests'), { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return newFolder(parent, `${name}-1`);
    throw new AgentError(ExitCode.usage, `cannot write ${folder} (${codeOf(error)})`, { cause: error });
  }
  await sync(folder);
  return folder;
}

async function readContent(folder: string): Promise<JournalContent | undefined> {
  const file = join(folder, FILE);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const content = parsed(text);
  if (!content) {
    throw new AgentError(
      ExitCode.refused,
      `${file} is cut short or damaged; if its restore is over, move ${folder} elsewhere; else ${join(folder, 'manifests')} holds the manifests that were there before`,
    );
  }
  if (content.schema === JOURNAL_SCHEMA) return content;
  throw new AgentError(ExitCode.refused, `${file} is of another version of the agent; finish with that one`);
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
  // What holds anything stays.
  await rmdir(join(folder, 'manifests')).catch(() => {});
  await rmdir(folder).catch(() => {});
}

/** `20261122-031500`, UTC. */
export const stampOf = (time: Date): string =>
  time
    .toISOString()
    .replaceAll(/[-:]|\.\d+Z$/g, '')
    .replace('T', '-');
