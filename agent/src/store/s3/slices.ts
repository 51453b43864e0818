import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

const SLICE = 256 * 1024;

/**
 * Sends a large body over TLS in slices. In one piece, all of it would be encrypted into a second copy before the first
 * byte leaves, and a slow but steady connection would look idle. This close to the wire, so that each attempt still has
 * the whole body.
 */
export function sendInSlices(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { protocol?: string; body?: unknown };
      const { protocol, body } = request;
      if (protocol !== 'https:' || !Buffer.isBuffer(body) || body.length <= SLICE) return next(args);
      const sliced = Object.create(Object.getPrototypeOf(request), Object.getOwnPropertyDescriptors(request));
      sliced.body = Readable.from(slices(body), { objectMode: false, highWaterMark: 1 });
      return next({ ...args, request: sliced });
    },
    { step: 'deserialize', priority: 'low', name: 'sendInSlices' },
  );
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE);
}
