import { newestPatches, oldestPatches } from '../lib/defaults';

export interface SupportedVersion {
  readonly version: string;
  /** What is to be said when it is not the version that was asked for. */
  readonly note?: string;
}

const lowestMinor = Object.keys(newestPatches)[0] as keyof typeof newestPatches;

/**
 * The version itself, or the oldest supported one when it is below; undefined when it is no version of etcd 3 up to the
 * newest supported minor.
 */
export function supportedVersion(text: string): SupportedVersion | undefined {
  const [, minorText, patchText, more] = /^v?3\.(\d+)(?:\.(\d+)(-.*)?)?$/.exec(text) ?? [];
  if (minorText === undefined) return undefined;
  const minor = `3.${minorText}`;
  const oldest = oldestPatches[minor];
  if (oldest === undefined) return isOlder(minor) ? moved(text, lowestMinor, olderMinor(minor)) : undefined;
  const isPreRelease = /^-(alpha|beta|rc)/.test(more ?? '');
  if (patchText === undefined || isPreRelease || Number(patchText) < Number(oldest.split('.')[2])) {
    return moved(text, minor as keyof typeof newestPatches, '');
  }
  return { version: `${minor}.${patchText}` };
}

function moved(text: string, minor: keyof typeof newestPatches, advice: string): SupportedVersion {
  const version = oldestPatches[minor]!;
  const note = `${text} is below ${version}, the oldest version that is supported of ${minor}, and becomes ${version}; better write ${newestPatches[minor]}, the newest`;
  return { version, note: `${note}${advice}` };
}

function olderMinor(minor: string): string {
  const path = `. No member is upgraded in place from ${minor}: the data is carried over by a backup and a restore`;
  if (minor === '3.4') return path;
  return `${path}. Restores of 3.4 and later are tried ones: upgrade the old cluster to 3.4 first, one minor version at a time`;
}

const minorOf = (minor: string) => Number(minor.split('.')[1]);

const isOlder = (minor: string) => minorOf(minor) < minorOf(lowestMinor);
