import { readFile } from 'node:fs/promises';
import { codeOf } from '../../lib/errors.ts';
import { parseRecord, type RecordAnswer } from '../../protocol/record-schema.ts';
import type { RecordSource } from './record-source.ts';

/** The record as a file, for members that are local processes. */
export class FileRecord implements RecordSource {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async read(signal?: AbortSignal): Promise<RecordAnswer> {
    try {
      return parseRecord(await readFile(this.#file, { encoding: 'utf8', signal }));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return { kind: 'none' };
      throw error;
    }
  }
}
