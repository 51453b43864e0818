import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, createCertificates } from '../../../test/harness/certificates.ts';
import { recordOf } from '../../protocol/record.fixture.ts';
import { ConfigMapRecord } from './record-source.ts';

let directory: string;
let certificates: Certificates;
let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'api-'));
  certificates = await createCertificates(join(directory, 'made'));
  const [cert, key] = [await readFile(certificates.server.cert), await readFile(certificates.server.key)];
  server = createServer({ cert, key }, (request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(async () => {
  await copyFile(certificates.ca, join(directory, 'ca.crt'));
  await writeFile(join(directory, 'token'), 'one\n');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(directory, { recursive: true });
});

const source = (timeout = 5_000) => {
  const port = String((server.address() as AddressInfo).port);
  return new ConfigMapRecord('team a', 'db-record', timeout, { host: '127.0.0.1', port, directory });
};
const says = (status: number, body: unknown) => {
  answer = (_, response) => void response.writeHead(status).end(JSON.stringify(body));
};

test('one GET of the ConfigMap, with the token as it is now', async () => {
  const seen: unknown[] = [];
  answer = ({ method, url, headers }, response) => {
    seen.push([method, url, headers.authorization]);
    response.end(JSON.stringify({ kind: 'ConfigMap', data: { 'record.json': JSON.stringify(recordOf()) } }));
  };
  const record = source();
  expect(await record.read()).toEqual({ kind: 'record', doc: recordOf() });
  await writeFile(join(directory, 'token'), 'two');
  await record.read();
  const path = '/api/v1/namespaces/team%20a/configmaps/db-record';
  expect(seen).toEqual([
    ['GET', path, 'Bearer one'],
    ['GET', path, 'Bearer two'],
  ]);
});

test('a missing ConfigMap, and one without a record', async () => {
  says(404, { kind: 'Status' });
  expect(await source().read()).toEqual({ kind: 'none' });
  says(200, { kind: 'ConfigMap' });
  expect(await source().read()).toMatchObject({ kind: 'refused' });
});

test.each([401, 403, 429, 500, 503])('an answer of %i says nothing about the record', async (status) => {
  says(status, { kind: 'Status' });
  await expect(source().read()).rejects.toThrow(`the API server answers ${status} to GET /api/v1/namespaces`);
});

test('a server with a certificate of another authority is rejected and never receives the token', async () => {
  await copyFile(certificates.otherCa, join(directory, 'ca.crt'));
  let asked = false;
  answer = (_, response) => {
    asked = true;
    response.end();
  };
  await expect(source().read()).rejects.toThrow(/certificate/);
  expect(asked).toBe(false);
});

test('no answer in time', async () => {
  answer = () => {};
  await expect(source(50).read()).rejects.toThrow(/abort/);
});

test('an answer that stops half-way', async () => {
  answer = (_, response) => void response.writeHead(200).write('{"data"');
  await expect(source(50).read()).rejects.toThrow(/abort/);
});

test('no token yet', async () => {
  await rm(join(directory, 'token'));
  await expect(source().read()).rejects.toThrow(/ENOENT/);
});
