/** Compression of a snapshot before it is stored. */
export enum Compression {
  /** No compression: the stored file is what etcd sent, and `etcdutl` restores it without the agent. */
  NONE = 'none',
  /** gzip: `gunzip` decompresses the stored file. */
  GZIP = 'gzip',
  /** Zstandard: `zstd -d` decompresses the stored file. */
  ZSTD = 'zstd',
}
