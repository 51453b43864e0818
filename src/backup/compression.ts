/** How a snapshot is compressed before it is stored. */
export enum Compression {
  /** Stored as etcd sent it: `etcdutl` restores the file without the agent. */
  NONE = 'none',
  /** Opens with `gunzip`. */
  GZIP = 'gzip',
  /** Opens with `zstd -d`. */
  ZSTD = 'zstd',
}
