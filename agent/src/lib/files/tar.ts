/** One entry of a tar file. */
export interface TarEntry {
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink';
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Modification time in seconds since 1970. */
  readonly modified: number;
  /** Only for a file. */
  readonly content?: Buffer;
  /** Only for a symlink. */
  readonly target?: string;
}

const BLOCK = 512;
const typeFlags = { file: '0', symlink: '2', directory: '5' } as const;

/** Creates a tar file in POSIX's ustar format, which every tar reads. Leading slashes are removed from paths. */
export function tarFile(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const { content = Buffer.alloc(0) } = entry;
    return [header(entry, content.length), content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/** Reads the files in a tar file that `tarFile` has created: their absolute paths and contents. */
export function filesInTar(tar: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const text = (from: number, length: number) => tar.toString('utf8', from, from + length).replace(/\0.*/s, '');
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const [name, prefix] = [text(at, 100), text(at + 345, 155)];
    const content = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (text(at + 156, 1) === typeFlags.file) files.set(`/${prefix ? `${prefix}/` : ''}${name}`, content);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function header(entry: TarEntry, size: number): Buffer {
  const { name, prefix } = split(entry.path.replace(/^\/+/, '') + (entry.type === 'directory' ? '/' : ''));
  const block = Buffer.alloc(BLOCK);
  const write = (text: string, offset: number, length: number) => {
    if (Buffer.byteLength(text) > length) throw new Error(`'${text}' is too long for a tar file`);
    block.write(text, offset);
  };
  const octal = (value: number, offset: number, length: number) =>
    write(value.toString(8).padStart(length - 1, '0'), offset, length - 1);
  write(name, 0, 100);
  octal(entry.mode & 0o7777, 100, 8);
  octal(entry.uid, 108, 8);
  octal(entry.gid, 116, 8);
  octal(size, 124, 12);
  octal(entry.modified, 136, 12);
  write(typeFlags[entry.type], 156, 1);
  write(entry.target ?? '', 157, 100);
  write('ustar\x0000', 257, 8);
  write(prefix, 345, 155);
  // The checksum is computed with its own field filled with spaces.
  block.fill(' ', 148, 156);
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  block[154] = 0;
  return block;
}

/** Splits a path at a slash into a prefix of up to 155 bytes and a name of up to 100. */
function split(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' };
  for (let slash = path.indexOf('/'); slash > 0 && slash < path.length - 1; slash = path.indexOf('/', slash + 1)) {
    if (Buffer.byteLength(path.slice(slash + 1)) <= 100)
      return { name: path.slice(slash + 1), prefix: path.slice(0, slash) };
  }
  return { name: path, prefix: '' };
}
