import type { Document } from './documents';

/** What one backup under a key of its own means here. */
export function noteOneBackup({ report }: Document): void {
  report.note(
    'spec',
    'is one plain snapshot under exactly this key; where the key exists already the backup is refused, not overwritten, so give each its own',
  );
}
