import { HeadObjectCommand, type HeadObjectCommandInput, type S3Client } from '@aws-sdk/client-s3';
import { statusOf } from './errors.ts';

/**
 * Whether an object lock or a legal hold keeps the object. A bucket with object lock has versions: to delete there hides
 * even a locked object behind a marker, and the server refuses nothing. Where we may not ask, the answer is no, and what
 * happens is up to the server.
 */
export async function isLocked(
  client: S3Client,
  input: HeadObjectCommandInput,
  options: { abortSignal?: AbortSignal },
  now: () => Date | undefined,
): Promise<boolean> {
  const head = await client.send(new HeadObjectCommand(input), options).catch((error) => {
    if ((statusOf(error) ?? 500) >= 500) throw error;
    return undefined;
  });
  if (head?.ObjectLockLegalHoldStatus === 'ON') return true;
  const until = head?.ObjectLockRetainUntilDate;
  return until !== undefined && until > (now() ?? new Date());
}
