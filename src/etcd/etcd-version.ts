import { defaultMinor, newestPatches, oldestPatches } from '../lib/defaults';

/** Selects the version of etcd that a cluster runs, down to the patch. */
export class EtcdVersion {
  /** Selects etcd 3.5.35. */
  static readonly V3_5 = new EtcdVersion(newestPatches['3.5']);
  /** Selects etcd 3.6.16. */
  static readonly V3_6 = new EtcdVersion(newestPatches['3.6']);
  /** Selects etcd 3.7.3. */
  static readonly V3_7 = new EtcdVersion(newestPatches['3.7']);

  /**
   * Selects another patch version, such as `3.5.35` or `v3.5.35`. The oldest supported ones are 3.5.11, 3.6.11 and
   * 3.7.0; synthesis fails for any other.
   *
   * @param version The version, with or without the `v`.
   */
  static of(version: string): EtcdVersion {
    return new EtcdVersion(String(version).replace(/^v/, ''));
  }

  /**
   * Returns the version to write instead of `given`: the newest patch of its minor version, or the default.
   * @internal
   */
  static _insteadOf(given?: unknown): string {
    const minor = String(given).split('.').slice(0, 2).join('.');
    return Object.hasOwn(newestPatches, minor) ? newestOf(minor) : newestOf(defaultMinor);
  }

  /** Holds the minor version, such as `3.6`. */
  readonly minor: string;

  private constructor(
    /** Holds the complete version, such as `3.6.16`. */
    readonly version: string,
  ) {
    this.minor = version.split('.').slice(0, 2).join('.');
  }

  /** @internal */
  _problems(): string[] {
    const { version, minor } = this;
    if (!/^\d+\.\d+\.(0|[1-9]\d{0,2})$/.test(version))
      return [`'${version}' is not a released version of etcd; write it like ${EtcdVersion._insteadOf(version)}`];
    const oldest = oldestPatches[minor];
    if (oldest === undefined) return [`etcd ${version} is not supported; use 3.5, 3.6 or 3.7`];
    if (patchOf(version) >= patchOf(oldest)) return [];
    return [`etcd ${version} is older than ${oldest}, the oldest supported ${minor}; use ${newestOf(minor)}`];
  }
}

const patchOf = (version: string) => Number(version.split('.')[2]);

const newestOf = (minor: string) => newestPatches[minor as keyof typeof newestPatches];
