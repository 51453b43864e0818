/** Selects how a snapshot is compressed before it is stored. */
export enum Compression {
  /** Compresses nothing: the stored file is what etcd sent, and `etcdutl` restores it without the agent. */
  NONE = 'none',
  /** Compresses with gzip: `gunzip` decompresses the stored file. */
  GZIP = 'gzip',
  /** Compresses with Zstandard: `zstd -d` decompresses the stored file. */
  ZSTD = 'zstd',
}
