import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import * as z from 'zod/mini';
import { callCounter } from '../../lib/memory.ts';
import { budgetOf, type Store, type StoredObject } from '../../store/store.ts';
import { briefSchema, foundSchema } from './manifest.ts';

const HEAD = '{"schema":"cdk8s-etcd/index/v3"}';
const MAX_LINE = 1024 * 1024;

/** Identifies one version of an object: its size in bytes, and when it was written in milliseconds. */
const stamp = z.tuple([z.number(), z.number()]);
export type Stamp = z.infer<typeof stamp>;

const factsSchema = z.object({
  /** Versions of the manifest and, if there is one, of the finding of a later verification. */
  stamps: z.tuple([stamp, z.nullable(stamp)]),
  manifest: briefSchema,
  verification: z.optional(foundSchema),
});
/** The contents of a snapshot's manifest and finding, with the versions that they were read from. */
export type SnapshotFacts = z.infer<typeof factsSchema>;

export const stampOf = ({ size, modified }: StoredObject): Stamp => [size, modified.getTime()];

interface IndexPlace {
  readonly store: Store;
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
}

/** A name that no snapshot can have. */
const indexKey = (folder: string) => `${folder}/.index.jsonl.gz`;

/**
 * Reads the index: the manifests as earlier runs read them, so that not every run reads them all. The index only saves
 * time. An entry counts as long as the store lists the manifest with the same size and time. Without an index, or with a
 * damaged one, the manifests are read.
 */
export async function readIndex(
  { store, path, signal }: IndexPlace,
  use: (facts: SnapshotFacts) => void,
): Promise<void> {
  const countLine = callCounter(1_000);
  try {
    await pipeline(
      await store.get(indexKey(path), { signal }),
      createGunzip(),
      async (chunks: AsyncIterable<Buffer>) => {
        let isHead = true;
        for await (const line of linesOf(chunks)) {
          if (isHead && line !== HEAD) return;
          if (!isHead) use(factsSchema.parse(JSON.parse(line)));
          isHead = false;
          countLine();
        }
      },
    );
  } catch {
    signal?.throwIfAborted();
  }
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncIterable<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield rest.toString('utf8', 0, end);
      rest = rest.subarray(end + 1);
    }
    if (rest.length > MAX_LINE) return;
  }
}

/** Milliseconds that a backup may lose to an index that cannot be written. */
const DEADLINE = 20_000;

export async function writeIndex(
  { store, path, signal }: IndexPlace,
  facts: Iterable<SnapshotFacts>,
  deadline = DEADLINE,
): Promise<void> {
  const lines = (function* () {
    yield `${HEAD}\n`;
    for (const each of facts) yield `${JSON.stringify(each)}\n`;
  })();
  budgetOf(store).extend(deadline);
  const signals = [AbortSignal.timeout(deadline), ...(signal ? [signal] : [])];
  await store.put(indexKey(path), Readable.from(lines).pipe(createGzip()), { signal: AbortSignal.any(signals) });
}
