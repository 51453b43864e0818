// Stands in for kube-apiserver: takes its flags, and is ready when etcd is.
import { readFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ strict: false });
const flag = (name: string) => String(values[name]);
const tls = { cert: readFileSync(flag('tls-cert-file')), key: readFileSync(flag('tls-private-key-file')) };
const etcd = {
  cert: readFileSync(flag('etcd-certfile')),
  key: readFileSync(flag('etcd-keyfile')),
  rejectUnauthorized: false,
};

createServer(tls, (_, response) => {
  const answer = (status: number) => response.writeHead(status).end();
  get(`${flag('etcd-servers')}/health`, { ...etcd, timeout: 2_000 }, (health) => answer(health.statusCode ?? 500)).on(
    'error',
    () => answer(500),
  );
}).listen(Number(flag('secure-port')), '127.0.0.1');
