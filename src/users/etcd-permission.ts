import type { EtcdPermissionSpec } from '../resource/types';
import { problemsOf } from '../validation/problems';
import { keyTypes, prefixTypes, rangeTypes } from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';

type Access = EtcdPermissionSpec['access'];
type Keys = Omit<EtcdPermissionSpec, 'access'>;

const maxLength = 1024;

/**
 * Allows a user of etcd to read or write keys. Watching a key is reading it. Deleting it is writing it.
 *
 * Several permissions of a user add up.
 */
export class EtcdPermission {
  /**
   * Allows reading the keys that begin with a prefix, such as `/api/`.
   *
   * @param prefix The beginning of the keys.
   */
  static read(prefix: string): EtcdPermission {
    return EtcdPermission.ofPrefix(prefix, 'Read');
  }

  /**
   * Allows writing the keys that begin with a prefix, such as `/api/`, without reading them.
   *
   * @param prefix The beginning of the keys.
   */
  static write(prefix: string): EtcdPermission {
    return EtcdPermission.ofPrefix(prefix, 'Write');
  }

  /**
   * Allows reading and writing the keys that begin with a prefix, such as `/api/`.
   *
   * @param prefix The beginning of the keys.
   */
  static readWrite(prefix: string): EtcdPermission {
    return EtcdPermission.ofPrefix(prefix, 'ReadWrite');
  }

  /**
   * Allows reading one key.
   *
   * @param key The key.
   */
  static readKey(key: string): EtcdPermission {
    return EtcdPermission.ofKey(key, 'Read');
  }

  /**
   * Allows writing one key, without reading it.
   *
   * @param key The key.
   */
  static writeKey(key: string): EtcdPermission {
    return EtcdPermission.ofKey(key, 'Write');
  }

  /**
   * Allows reading and writing one key.
   *
   * @param key The key.
   */
  static readWriteKey(key: string): EtcdPermission {
    return EtcdPermission.ofKey(key, 'ReadWrite');
  }

  /**
   * Allows reading the keys of a range, in the order of their bytes.
   *
   * @param start The first key.
   * @param end The end of the range, which does not belong to it.
   */
  static readRange(start: string, end: string): EtcdPermission {
    return EtcdPermission.ofRange(start, end, 'Read');
  }

  /**
   * Allows writing the keys of a range, in the order of their bytes, without reading them.
   *
   * @param start The first key.
   * @param end The end of the range, which does not belong to it.
   */
  static writeRange(start: string, end: string): EtcdPermission {
    return EtcdPermission.ofRange(start, end, 'Write');
  }

  /**
   * Allows reading and writing the keys of a range, in the order of their bytes.
   *
   * @param start The first key.
   * @param end The end of the range, which does not belong to it.
   */
  static readWriteRange(start: string, end: string): EtcdPermission {
    return EtcdPermission.ofRange(start, end, 'ReadWrite');
  }

  /** Allows reading every key. */
  static readAll(): EtcdPermission {
    return new EtcdPermission({ all: true }, 'Read', []);
  }

  /** Allows writing every key, without reading them. */
  static writeAll(): EtcdPermission {
    return new EtcdPermission({ all: true }, 'Write', []);
  }

  /** Allows reading and writing every key. */
  static readWriteAll(): EtcdPermission {
    return new EtcdPermission({ all: true }, 'ReadWrite', []);
  }

  private static ofPrefix(prefix: string, access: Access): EtcdPermission {
    return buildIfValid(EtcdPermission.prototype, { prefix }, prefixTypes, () => {
      const empty = prefix === '' ? 'prefix: is empty; for every key use readAll, writeAll or readWriteAll' : undefined;
      return new EtcdPermission({ prefix }, access, problemsOf(empty, lengthProblem('prefix:', prefix)));
    });
  }

  private static ofKey(key: string, access: Access): EtcdPermission {
    return buildIfValid(EtcdPermission.prototype, { key }, keyTypes, () => {
      const empty = key === '' ? 'key: is empty; give the name of a key' : undefined;
      return new EtcdPermission({ key }, access, problemsOf(empty, lengthProblem('key:', key)));
    });
  }

  private static ofRange(start: string, end: string, access: Access): EtcdPermission {
    return buildIfValid(
      EtcdPermission.prototype,
      { start, end },
      rangeTypes,
      () => new EtcdPermission({ range: { from: start, to: end } }, access, rangeProblems(start, end)),
    );
  }

  private constructor(
    private readonly keys: Keys,
    private readonly access: Access,
    private readonly problems: readonly string[],
  ) {}

  /**
   * Identifies the keys: two permissions for the same keys have the same text.
   * @internal
   */
  _keys(): string {
    return JSON.stringify(this.keys);
  }

  /** @internal */
  _spec(): EtcdPermissionSpec {
    return { ...this.keys, access: this.access };
  }

  /** @internal */
  _problems(): readonly string[] {
    return this.problems;
  }
}

function rangeProblems(start: string, end: string): string[] {
  // Compared as etcd compares keys.
  const isEmpty = Buffer.compare(Buffer.from(start), Buffer.from(end)) >= 0;
  return problemsOf(
    start === '' ? 'range: its first key is empty; give one' : undefined,
    isEmpty
      ? `range: '${end}' does not come after '${start}' in the order of their bytes, so no key is between them; exchange them, or use a prefix`
      : undefined,
    lengthProblem('range: its first key', start),
    lengthProblem('range: its end', end),
  );
}

function lengthProblem(what: string, key: string): string | undefined {
  if (key.length <= maxLength) return undefined;
  return `${what} has ${key.length} characters; use at most ${maxLength}`;
}
