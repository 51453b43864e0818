import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { run } from './run.mjs';

/** Official releases whose sha256 is known, by minor. */
const releases = {
  3.5: {
    version: '3.5.33',
    'linux-amd64': '5025b5b24d81a9616b6e284ccd439b9a3df055ef8fdcdc142af3ec8f6a3b3c95',
    'linux-arm64': '0764c5c0acef155f4bfa0487791cc5776adef66315bf16ec0653883bfd463a90',
  },
  3.6: {
    version: '3.6.14',
    'linux-amd64': 'ffe840ff9295808e88cce2794a18a5ac87f12a5203c8314d0bf6aa119b41bac5',
    'linux-arm64': 'fa1b80565ee6fc2df1ae6f57a508b221f3ecc7d591c317c581cd8281b0842b3e',
  },
};

/** Downloads a minor's release, checks it against its pin, and unpacks it into `directory`. */
export async function downloadRelease(minor, directory) {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const release = releases[minor];
  if (!release?.[platform]) throw new Error(`no sha256 is pinned for ${minor} on ${platform}`);
  const name = `etcd-v${release.version}-${platform}.tar.gz`;
  const bytes = await download(`https://github.com/etcd-io/etcd/releases/download/v${release.version}/${name}`);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== release[platform]) throw new Error(`${name} has the sha256 ${sha256}, which is not the pinned one`);
  const archive = join(directory, 'release.tar');
  await writeFile(archive, gunzipSync(bytes));
  await run('tar', ['-xf', archive, '-C', directory, '--strip-components=1', '--no-same-owner']);
  await rm(archive);
}

async function download(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(300_000) });
    if (!response.ok) throw new Error(`answered ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    throw new Error(`${new URL(url).host}: ${error.cause?.message || error.cause?.code || error.message}`);
  }
}
