import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentError, ExitCode } from '../../src/lib/errors.ts';
import { attackStore, attackStream, type Case, makeCase, openDeceived } from './attack.ts';
import { differenceInEtcd } from './prove.ts';
import type { Specimen } from './specimen.ts';

/** Number of concurrent cases, each with an etcd or an etcdutl. */
const AT_ONCE = 3;

export interface Tally {
  /** Outcomes of the snapshots with corrected checksums, and their numbers. */
  readonly verdicts: Map<Verdict, number>;
  /** Wrong outcomes, each with its case. */
  readonly mistakes: string[];
}

export type Verdict = 'trailer' | 'structure' | 'etcdutl' | 'HashKV' | 'inconclusive' | 'proven equal';

/** Mutates these snapshots, attacks every line of defense with each, and counts the outcomes. */
export async function runMutations(count: number, seed: number, specimens: readonly Specimen[]): Promise<Tally> {
  const scratch = await mkdtemp(join(tmpdir(), 'mutations-'));
  try {
    const tally: Tally = { verdicts: new Map(), mistakes: [] };
    let next = 0;
    const worker = async () => {
      while (next < count) {
        const tried = await makeCase(seed, next++, specimens);
        for (const mistake of await attack(tried, scratch, tally)) {
          const kept = join(tmpdir(), `mutation-${seed}-${tried.what.split(' ')[0]}.db`);
          await writeFile(kept, tried.snapshot);
          tally.mistakes.push(`${tried.what}: ${mistake} (the snapshot is in ${kept})`);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return tally;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function attack(tried: Case, scratch: string, { verdicts }: Tally): Promise<string[]> {
  const mistakes: string[] = [];
  const store = await attackStore(tried, scratch);
  if (store) mistakes.push(`in the store: ${store}`);
  const stream = await attackStream(tried);
  if (stream) mistakes.push(`in the stream: ${stream}`);

  const opened = await openDeceived(tried, scratch);
  const verdict =
    opened instanceof AgentError ? refusal(opened) : opened.level === 'open' ? 'proven equal' : 'inconclusive';
  if (!verdict)
    return [...mistakes, `verify ended with ${opened instanceof AgentError ? opened.exitCode : ''}: ${opened}`];
  verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
  if (!tried.sealed && verdict !== 'trailer') mistakes.push(`its trailer is wrong, and ${verdict} had to find out`);
  if (verdict !== 'proven equal') return mistakes;
  const difference = await differenceInEtcd(tried.snapshot, tried.specimen, scratch);
  return difference ? [...mistakes, `verify took it, but ${difference}`] : mistakes;
}

function refusal({ exitCode, message }: AgentError): Verdict | undefined {
  if (exitCode !== ExitCode.verificationFailed) return undefined;
  if (/HashKV at revision/.test(message)) return 'HashKV';
  if (/etcdutl (cannot|refused)|refused to restore/.test(message)) return 'etcdutl';
  return /its database is damaged/.test(message) ? 'structure' : 'trailer';
}

export const total = ({ verdicts }: Tally): number => [...verdicts.values()].reduce((sum, count) => sum + count, 0);

/** One line for people. */
export function summary(seed: number, tally: Tally): string {
  const parts = [...tally.verdicts].sort().map(([verdict, count]) => `${verdict} ${count}`);
  return `MUTATIONS_SEED=${seed}: ${total(tally)} mutations, each refused by our sums; with our sums made right: ${parts.join(', ')}`;
}
