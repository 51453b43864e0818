// Stands in for kube-apiserver: takes its flags, and is ready when etcd is. Its only path is /readyz: no object can be
// missing or outdated here.
import { existsSync, readFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ strict: false });
const flag = (name: string) => String(values[name]);
const tls = {
  cert: readFileSync(flag('tls-cert-file')),
  key: readFileSync(flag('tls-private-key-file')),
  ca: readFileSync(flag('client-ca-file')),
  requestCert: true,
  rejectUnauthorized: false,
};
const etcd = {
  cert: readFileSync(flag('etcd-certfile')),
  key: readFileSync(flag('etcd-keyfile')),
  rejectUnauthorized: false,
};
// Not a flag of the real one: while this file exists, a hook that runs at the start has not ended.
const starting = () => values['starting-while'] !== undefined && existsSync(flag('starting-while'));

// The real one removes its lease from etcd when it ends. Without etcd this takes longer than the kubelet waits. A second
// signal ends it at once.
let isEnding = false;
process.on('SIGTERM', () => {
  if (isEnding) process.exit(1);
  isEnding = true;
  const stays = () => setTimeout(() => process.exit(1), 60_000);
  get(`${flag('etcd-servers')}/health`, { ...etcd, timeout: 2_000 }, ({ statusCode }) =>
    statusCode === 200 ? process.exit() : stays(),
  ).on('error', stays);
});

createServer(tls, ({ socket }, response) => {
  const answer = (status: number) => response.writeHead(status).end();
  const isAnonymous = !(socket as TLSSocket).authorized;
  if (isAnonymous && values['anonymous-auth'] === 'false') return answer(401);
  if (starting()) return answer(isAnonymous ? 403 : 500);
  return get(`${flag('etcd-servers')}/health`, { ...etcd, timeout: 2_000 }, (health) =>
    answer(health.statusCode ?? 500),
  ).on('error', () => answer(500));
}).listen(Number(flag('secure-port')), '127.0.0.1');
