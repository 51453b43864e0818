import type { ServerHttp2Stream } from 'node:http2';
import type { Limits } from './limits.ts';
import { Refused, Status } from './status.ts';

const HEADER = 5;

/** Reads the one message of a request. Rejects one that is too large, or not complete in time. */
export async function readRequest(stream: ServerHttp2Stream, limits: Limits, signal: AbortSignal): Promise<Buffer> {
  const body = await bodyOf(stream, limits, signal);
  if (body.length < HEADER || body.readUInt32BE(1) !== body.length - HEADER)
    throw new Refused(Status.permissionDenied, 'a request here is one gRPC message');
  if (body[0] !== 0) throw new Refused(Status.unimplemented, 'a compressed request is not understood');
  return body.subarray(HEADER);
}

/** Not by iteration: ending it early would destroy the stream, and with it the answer. */
function bodyOf(
  stream: ServerHttp2Stream,
  { request: most, requestTime }: Limits,
  signal: AbortSignal,
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let length = 0;
  const late = () => reject(new Refused(Status.resourceExhausted, 'the request did not arrive in time'));
  const timer = setTimeout(late, requestTime);
  const left = () => reject(signal.reason);
  signal.addEventListener('abort', left, { once: true });
  stream
    .on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= most + HEADER) chunks.push(chunk);
      else reject(new Refused(Status.resourceExhausted, `a request of more than ${most} bytes is refused`));
    })
    .once('end', () => resolve(Buffer.concat(chunks)));
  // A request without a body ended before anybody listened.
  if (stream.readableEnded) resolve(Buffer.of());
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', left);
    stream.removeAllListeners('data');
    stream.pause();
  });
}
