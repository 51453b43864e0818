import type { _Object, ListMultipartUploadsCommandOutput, ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import { AgentError, ExitCode } from '../../lib/errors.ts';

/** Whoever deletes relies on a listing: what may be cut short is no listing. */
const cut = (what: string, why: string) =>
  new AgentError(ExitCode.storeUnreachable, `${what}: ${why}, so objects may be missing; see what answers there`);

export type Listed = Required<Pick<_Object, 'Key' | 'Size' | 'LastModified'>>;

/** The objects of a page, once it is known to be whole. */
export function objectsOf(page: ListObjectsV2CommandOutput, what: string): Listed[] {
  const { Contents = [], IsTruncated, KeyCount } = page;
  if (IsTruncated === undefined) throw cut(what, 'the answer is not a listing of S3');
  if (KeyCount !== undefined && KeyCount > Contents.length) {
    throw cut(what, `the server lists ${Contents.length} of ${KeyCount} keys`);
  }
  return Contents.map(({ Key, Size, LastModified }) => {
    if (Key === undefined || Size === undefined || !LastModified) {
      throw cut(what, `the server lists ${Key ?? 'an object'} without its key, size or time`);
    }
    return { Key: detached(Key), Size, LastModified };
  });
}

/** A part of a text keeps all of it in memory: here a whole page for each name. */
const detached = (text: string): string => Buffer.from(text).toString();

/** Where the page after this one begins; undefined after the last. */
export function nextToken(
  { IsTruncated, NextContinuationToken: token }: ListObjectsV2CommandOutput,
  asked: string | undefined,
  what: string,
): string | undefined {
  if (!IsTruncated) return undefined;
  if (!token || token === asked) throw cut(what, 'the server says that there is more, but not where it begins');
  return token;
}

type Markers = { KeyMarker?: string; UploadIdMarker?: string };

export function nextMarkers(
  { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker }: ListMultipartUploadsCommandOutput,
  asked: Markers,
  what: string,
): Markers | undefined {
  if (!IsTruncated) return undefined;
  if (!KeyMarker || (KeyMarker === asked.KeyMarker && UploadIdMarker === asked.UploadIdMarker)) {
    throw cut(what, 'the server says that there is more, but not where it begins');
  }
  return { KeyMarker, UploadIdMarker };
}
