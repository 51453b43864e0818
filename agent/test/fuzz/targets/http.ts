import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { fetchSource } from '../../../src/backup/restore/fetch-source.ts';
import { peerAnswers } from '../../../src/control-plane/state/health.ts';
import { httpGet } from '../../../src/control-plane/state/http-get.ts';
import { agent } from '../../../src/controllers/port/observed.fixture.ts';
import { ApiClient } from '../../../src/kube/api-client.ts';
import type { KubeObject } from '../../../src/kube/objects.ts';
import { sha256 } from '../../../src/lib/http/bearer.ts';
import { getJson } from '../../../src/lib/http/http-get.ts';
import { EtcdProbe } from '../../../src/member/sidecar/etcd-probe.ts';
import { StatusServer } from '../../../src/member/status-server.ts';
import { corpusFile } from '../corpus.ts';
import { secretWords } from '../secrets.ts';
import { eachOf, type Target } from '../target.ts';
import { fileWith, pathOf } from './scratch.ts';

/** Milliseconds: longer than any answer of the loopback, and shorter than the limit of an input. */
const SOON = 1_000;

/** A server that answers every request with the bytes of the input, and closes the connection. */
class EchoServer {
  readonly #server: Server;
  #answer: Buffer = Buffer.alloc(0);

  constructor() {
    this.#server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(this.#answer));
    });
    this.#server.listen(0, '127.0.0.1').unref();
  }

  async answering(answer: Buffer): Promise<string> {
    this.#answer = answer;
    if (!this.#server.listening) await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
}

let echoServer: EchoServer | undefined;
function url(answer: Buffer): Promise<string> {
  echoServer ??= new EchoServer();
  return echoServer.answering(answer);
}

/** Returns the announced checksum of the small snapshot in the corpus. */
const sumOfSmall = (): string => {
  const response = corpusFile('http-snapshot/small');
  return createHash('sha256')
    .update(response.subarray(response.indexOf('\r\n\r\n') + 4))
    .digest('hex');
};
const withIn = () => AbortSignal.timeout(SOON);

let statusServer: Promise<StatusServer> | undefined;
const nothing = () => {};

async function statusPort(): Promise<number> {
  statusServer ??= StatusServer.listen({
    listen: { host: '127.0.0.1', port: 0 },
    dataDir: '/nowhere',
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing } as never,
    status: () => agent(0),
  });
  const server = await statusServer;
  server.salvage ??= { file: fileWith('salvaged', 'salvaged'), tokenSha256: sha256(secretWords.token) };
  return server.port;
}

/** Sends bytes to our server, and returns what it answers. */
async function sent(port: number, request: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const failed = once(socket, 'error').then(() => '');
  socket.setTimeout(SOON, () => socket.destroy());
  socket.end(request);
  return Promise.race([text(socket).catch(() => ''), failed]);
}

const responses = ['http-response'];

export const http: readonly Target[] = [
  {
    name: 'http-json',
    about: 'GET /status of a pod: any Error says that it does not answer',
    kind: 'text',
    corpus: responses,
    expects: (error) => error.constructor === Error || error.name === 'AbortError',
    run: async (input) => getJson(`${await url(input)}/status`, { signal: withIn() }),
  },
  {
    name: 'http-peer',
    about: "a member's peer and metrics URLs: undefined for anything that is not whole",
    kind: 'text',
    corpus: responses,
    async run(input) {
      const at = await url(input);
      await httpGet(at, {}, withIn());
      await new EtcdProbe(at, withIn()).metrics();
      await peerAnswers([at], { peerTls: {} }, withIn());
    },
  },
  {
    name: 'http-snapshot',
    about: 'the snapshot that another agent serves to a member that is restored',
    kind: 'text',
    corpus: [...responses, 'http-snapshot'],
    async run(input) {
      const file = pathOf('fetched.db');
      rmSync(file, { force: true });
      const source = { url: `${await url(input)}/snapshot`, token: secretWords.token, sha256: sumOfSmall() };
      await fetchSource(source, file, { signal: withIn(), idleTimeout: 500 });
    },
    secrets: [secretWords.token],
  },
  {
    name: 'http-api',
    about: "the API server's answers, and those of a proxy before it: any Error is tried again later",
    kind: 'text',
    corpus: responses,
    expects: (error) => error.constructor === Error || ['ApiError', 'AbortError'].includes(error.name),
    async run(input) {
      const client = new ApiClient({ server: new URL(await url(input)), options: async () => ({}) }, SOON);
      try {
        const isError = (error: Error) =>
          error.constructor === Error || ['ApiError', 'AbortError'].includes(error.name);
        const signal = AbortSignal.timeout(200);
        await eachOf(isError, [
          () => client.get('/api/v1/pods/a'),
          () => client.list('/api/v1/pods', {}, { signal }),
          () => watched(client, signal),
        ]);
      } finally {
        client.close();
      }
    },
  },
  {
    name: 'http-request',
    about: 'requests to the port of a member, of anyone who reaches it',
    kind: 'text',
    corpus: ['http-request'],
    async run(input) {
      const port = await statusPort();
      const answer = await sent(port, input);
      if (answer.includes('salvaged') && !input.includes(secretWords.token)) throw new Error('no token was asked for');
      const whole = await sent(port, corpusFile('http-request/status'));
      if (!whole.startsWith('HTTP/1.1 200')) throw new Error('the server no longer answers');
    },
  },
];

async function watched(client: ApiClient, signal: AbortSignal): Promise<void> {
  for await (const _ of client.watch<KubeObject>('/api/v1/pods', {}, SOON, { signal }));
}
