import type { EtcdPermissionSpec } from '../resource/types';
import { buildIfValid, required, text } from '../validation/type-checks';

type Access = EtcdPermissionSpec['access'];
type Keys = Omit<EtcdPermissionSpec, 'access'>;

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
    return new EtcdPermission({ all: true }, 'Read');
  }

  /** Allows writing every key, without reading them. */
  static writeAll(): EtcdPermission {
    return new EtcdPermission({ all: true }, 'Write');
  }

  /** Allows reading and writing every key. */
  static readWriteAll(): EtcdPermission {
    return new EtcdPermission({ all: true }, 'ReadWrite');
  }

  private static ofPrefix(prefix: string, access: Access): EtcdPermission {
    return EtcdPermission.of({ prefix }, { prefix }, access);
  }

  private static ofKey(key: string, access: Access): EtcdPermission {
    return EtcdPermission.of({ key }, { key }, access);
  }

  private static ofRange(start: string, end: string, access: Access): EtcdPermission {
    return EtcdPermission.of({ start, end }, { range: { from: start, to: end } }, access);
  }

  private static of(given: object, keys: Keys, access: Access): EtcdPermission {
    const types = Object.fromEntries(Object.keys(given).map((name) => [name, required(text)]));
    return buildIfValid(EtcdPermission.prototype, given, types, () => new EtcdPermission(keys, access));
  }

  private constructor(
    private readonly keys: Keys,
    private readonly access: Access,
  ) {}

  /** @internal */
  _permission(): EtcdPermissionSpec {
    return { ...this.keys, access: this.access };
  }
}
