import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

/**
 * Options for the same request to the target, with unchanged headers: the signature covers the client's Host header.
 */
function forward(target: URL, { method, url, rawHeaders }: IncomingMessage): ClientRequest {
  const { hostname, port } = target;
  return openRequest({ hostname, port, method, path: url, headers: rawHeaders, setHost: false, agent: false });
}

/** Sends a request whose body is known, and resolves with the head of the answer. */
export async function open(target: URL, request: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const outgoing = forward(target, request);
  const answered = once(outgoing, 'response');
  outgoing.end(body);
  const [answer] = await answered;
  return answer;
}

/** Streams a request and its answer. If one side disconnects, disconnects the other side. */
export async function pass(target: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const outgoing = forward(target, request);
  const answered = once(outgoing, 'response');
  response.on('close', () => outgoing.destroy());
  request.pipe(outgoing);
  // A server may answer before it has read everything; the rest must not block the client's next request.
  outgoing.on('close', () => request.resume());
  const [answer] = await answered;
  await reply(answer, response);
}

export async function reply(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(answer.statusCode!, answer.rawHeaders);
  await pipeline(answer, response);
}

/** Sends the head and the first bytes of the body, then ends both connections. A shorter body is cut at its end. */
export async function cutRequest(target: URL, request: IncomingMessage, bytes: number): Promise<void> {
  const outgoing = forward(target, request);
  outgoing.on('error', () => undefined);
  outgoing.flushHeaders();
  await once(outgoing, 'socket').then(([socket]) => socket.connecting && once(socket, 'connect'));
  await sendFirst(bytes, request, outgoing);
  outgoing.destroy();
  request.socket.destroy();
}

/** Passes on the head and the first bytes of the answer's body, then ends the client's connection. */
export async function cutResponse(
  target: URL,
  request: IncomingMessage,
  response: ServerResponse,
  bytes: number,
): Promise<void> {
  const outgoing = forward(target, request);
  const answered = once(outgoing, 'response');
  request.pipe(outgoing);
  const [answer] = await answered;
  response.writeHead(answer.statusCode!, answer.rawHeaders);
  response.flushHeaders();
  await sendFirst(bytes, answer, response);
  request.socket.destroy();
  outgoing.destroy();
}

async function sendFirst(bytes: number, from: IncomingMessage, to: ClientRequest | ServerResponse): Promise<void> {
  let left = bytes;
  if (left <= 0) return;
  for await (const chunk of from) {
    const part = chunk.subarray(0, left);
    await new Promise((done) => to.write(part, done));
    left -= part.length;
    if (left <= 0) return;
  }
}
