import { type PassedOver, passedOverTexts } from '../../backup/catalog/passed-over.ts';
import { advised } from './advice.ts';

/** The snapshots that are passed over, one note each. */
export const passedOverNotes = (passed: readonly PassedOver[], taken: string): string[] =>
  passedOverTexts(passed, taken).map(({ text, id }) => `${text}${id === undefined ? advised({ kind: 'listed' }) : ''}`);
