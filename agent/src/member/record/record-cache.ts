import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../lib/files/replace-file.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { parseRecord } from '../../protocol/record-schema.ts';

const fileOf = (dataDir: string) => join(dataDir, 'record-cache.json');

/** Returns the newest record that this volume has seen, or undefined if there is none that can be read. */
export async function readCache(dataDir: string): Promise<RecordDoc | undefined> {
  const answer = parseRecord(await readFile(fileOf(dataDir), 'utf8').catch(() => ''));
  return answer.kind === 'record' ? answer.doc : undefined;
}

/** Caches a record, unless the cache holds a newer one of the same cluster. */
export async function cacheRecord(dataDir: string, doc: RecordDoc): Promise<void> {
  const cached = await readCache(dataDir);
  if (cached && !isNewer(doc, cached)) return;
  await replaceFile(fileOf(dataDir), `${JSON.stringify(doc)}\n`);
}

/** Returns true if a record replaces one seen before: another clusterUid, or a higher rev. A lower rev means that the record was rolled back. */
export function isNewer(doc: RecordDoc, than: RecordDoc): boolean {
  return doc.clusterUid !== than.clusterUid || doc.rev > than.rev;
}
