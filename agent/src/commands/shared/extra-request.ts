import type { ExtraRequest } from '../../backup/payload/extra.ts';
import { usageError } from '../../lib/errors.ts';
import type { Settings } from '../cli/settings.ts';

/** The files of this machine that are stored beside the snapshot; they are keys, so never in plain text. */
export async function extraRequest(
  settings: Settings,
  ofSnapshot: readonly string[],
): Promise<ExtraRequest | undefined> {
  const paths = settings.list('extraPath');
  const own = await settings.extraRecipients();
  if (paths.length === 0) {
    if (own.length > 0) throw usageError('--extra-age-recipient: there is no --extra-path to encrypt');
    return undefined;
  }
  if (settings.text('objectKey')) throw usageError('--extra-path: has no place beside --object-key; give one of them');
  const recipients = own.length > 0 ? own : ofSnapshot;
  if (recipients.length > 0) return { paths, recipients };
  throw usageError('--extra-path: is only stored encrypted; give --age-recipient or --extra-age-recipient');
}
