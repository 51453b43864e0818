import { gzipSync } from 'node:zlib';

const block = 512;

/** Packs files into a tar archive with gzip, by their names. */
export function tarGz(files: ReadonlyMap<string, string>, now: number): Buffer {
  const packed = [...files].flatMap(([name, text]) => {
    const content = Buffer.from(text);
    return [header(name, content.length, now), content, Buffer.alloc((block - (content.length % block)) % block)];
  });
  return gzipSync(Buffer.concat([...packed, Buffer.alloc(2 * block)]));
}

function header(name: string, size: number, now: number): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, length: number): string => value.toString(8).padStart(length - 1, '0');
  bytes.write(name, 0, 100);
  bytes.write(octal(0o644, 8), 100);
  bytes.write(octal(0, 8), 108);
  bytes.write(octal(0, 8), 116);
  bytes.write(octal(size, 12), 124);
  bytes.write(octal(Math.floor(now / 1000), 12), 136);
  // The checksum counts its own field as spaces.
  bytes.write('        ', 148);
  bytes.write('0', 156);
  bytes.write('ustar\0', 257);
  bytes.write('00', 263);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${octal(sum, 7)}\0 `, 148);
  return bytes;
}
