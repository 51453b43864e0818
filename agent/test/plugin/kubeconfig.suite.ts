// lib/kubectl-etcd and the real kubectl with the same files: they reach the same server with the same credentials, or both
// refuse. The servers answer 404 to everything: what a real one makes of the credentials cannot fail here.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { type Certificates, createCertificates } from '../harness/certificates.ts';

const program = join(import.meta.dirname, '../../../lib/kubectl-etcd');

/** Whom a program reached, and what it presented. */
type Reached =
  | { readonly who: string; readonly headers: Record<string, unknown>; readonly certificate?: string }
  | 'refused';

let common: string;
let certificates: Certificates;
let ca: string;
let directory: string;
let seen: { who: string; headers: IncomingHttpHeaders; certificate?: string }[] = [];
/** The servers answer 401. */
let refuses = false;
const servers = new Map<string, Server>();
/** Of plain HTTP, as of `kubectl proxy`. It is a proxy too, and then answers as the server behind it would. */
const plain = createHttpServer((request, response) => answer('plain', request, response));

beforeAll(async () => {
  common = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  certificates = await createCertificates(common);
  ca = await readFile(certificates.ca, 'base64');
  const files = { key: certificates.server.key, cert: certificates.server.cert, ca: certificates.ca };
  const read = await Promise.all(Object.entries(files).map(async ([name, path]) => [name, await readFile(path)]));
  const options = { ...Object.fromEntries(read), requestCert: true, rejectUnauthorized: false };
  for (const who of ['staging', 'prod']) {
    const server = createServer(options, (request, response) => answer(who, request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    servers.set(who, server);
  }
  plain.on('connect', (_, client) => {
    seen.push({ who: 'proxy', headers: {} });
    const { port } = servers.get('prod')!.address() as AddressInfo;
    const onward = connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    onward.pipe(client).pipe(onward);
    for (const each of [onward, client]) each.on('error', () => {});
  });
  await once(plain.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  for (const server of [plain, ...servers.values()]) server.close().closeAllConnections();
  await rm(common, { recursive: true });
});

function answer(who: string, { headers, socket }: IncomingMessage, response: ServerResponse): void {
  const certificate = (socket as TLSSocket).getPeerCertificate?.()?.subject?.CN as string | undefined;
  seen.push({ who, headers, ...(certificate === undefined ? {} : { certificate }) });
  if (refuses) response.writeHead(401).end('{}');
  else response.writeHead(404, { 'content-type': 'application/json' });
  if (!refuses)
    response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 404 }));
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  await mkdir(join(directory, 'work'));
});
afterEach(() => rm(directory, { recursive: true }));

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
const origin = (who: string) =>
  who === 'plain' ? `http://127.0.0.1:${portOf(plain)}` : `https://127.0.0.1:${portOf(servers.get(who)!)}`;

async function write(path: string, content: string, mode = 0o600): Promise<void> {
  await mkdir(join(directory, path, '..'), { recursive: true });
  await writeFile(join(directory, path), content, { mode });
  await chmod(join(directory, path), mode);
}

/** A kubeconfig whose context, cluster and user are all called `name`, for the server of that name. */
const config = (name: string, { user = {}, cluster = {}, ...more }: Record<string, object> = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'shop' } }],
    clusters: [{ name, cluster: { server: origin(name), 'certificate-authority-data': ca, ...cluster } }],
    users: [{ name, user: Object.keys(user).length > 0 ? user : { token: `token-of-${name}` } }],
    ...more,
  });

async function reach(command: string, args: readonly string[], env: Record<string, string>): Promise<Reached> {
  seen = [];
  const child = spawn(command, args, {
    cwd: join(directory, 'work'),
    env: { PATH: process.env.PATH, HOME: directory, ...env } as unknown as NodeJS.ProcessEnv,
    stdio: 'ignore',
  });
  await once(child, 'close');
  const [first] = seen;
  if (!first) return 'refused';
  const shown = Object.entries(first.headers).filter(([name]) => /^(authorization|impersonate-)/.test(name));
  return { ...first, headers: Object.fromEntries(shown) };
}

/** Runs both, and returns what both did. */
async function both(env: Record<string, string>, flags: readonly string[] = []): Promise<Reached> {
  const kubectl = await reach('kubectl', ['get', '--raw', '/apis', ...flags], env);
  expect(await reach(process.execPath, [program, 'list', ...flags], env)).toEqual(kubectl);
  return kubectl;
}

const paths = (...names: string[]) => names.map((name) => join(directory, name)).join(':');

test('of several files, the first current context', async () => {
  await write('staging', config('staging'));
  await write('prod', config('prod'));
  expect(await both({ KUBECONFIG: paths('staging', 'prod') })).toMatchObject({ who: 'staging' });
  expect(await both({ KUBECONFIG: paths('prod', 'staging') })).toMatchObject({ who: 'prod' });
  expect(await both({ KUBECONFIG: paths('staging', 'prod') }, ['--context=prod'])).toMatchObject({ who: 'prod' });
});

test('files that do not exist, are empty, or are named twice', async () => {
  await write('staging', config('staging'));
  await write('empty', '');
  expect(await both({ KUBECONFIG: paths('none', 'empty', 'staging', 'staging') })).toMatchObject({ who: 'staging' });
  expect(await both({ KUBECONFIG: `:${paths('staging')}:` })).toMatchObject({ who: 'staging' });
  expect(await both({ KUBECONFIG: paths('staging') }, [`--kubeconfig=${paths('none')}`])).toBe('refused');
});

test('without KUBECONFIG, ~/.kube/config', async () => {
  await write('.kube/config', config('prod'));
  expect(await both({})).toMatchObject({ who: 'prod' });
  expect(await both({ KUBECONFIG: '' })).toMatchObject({ who: 'prod' });
});

test('a current context alone, in a file before the one with everything', async () => {
  await write('choice', 'current-context: prod');
  await write('all', config('staging', { clusters: [clusterOf('staging'), clusterOf('prod')], ...contexts }));
  expect(await both({ KUBECONFIG: paths('choice', 'all') })).toMatchObject({ who: 'prod' });
});
const clusterOf = (name: string) => ({ name, cluster: { server: origin(name), 'certificate-authority-data': ca } });
const contexts = {
  contexts: ['staging', 'prod'].map((name) => ({ name, context: { cluster: name, user: 'staging' } })),
};

test('equal names in two files: each entry as a whole from the first', async () => {
  await write('a', config('staging', { users: [] as object, clusters: [] as object }));
  await write('b', config('staging', { user: { token: 'b' } }));
  await write('c', config('staging', { user: { token: 'c', as: 'c' }, cluster: { server: origin('prod') } }));
  const found = await both({ KUBECONFIG: paths('a', 'b', 'c') });
  expect(found).toEqual({ who: 'staging', headers: { authorization: 'Bearer b' } });
  expect(await both({ KUBECONFIG: paths('a', 'c', 'b') })).toMatchObject({ who: 'prod' });
});

test.each([
  ['a name twice in one file', { users: [{ name: 'staging' }, { name: 'staging' }] }],
  ['a context without its cluster', { clusters: [] }],
  ['another context', { 'current-context': 'none' }],
])('%s is refused', async (_, more) => {
  await write('config', config('staging', more));
  expect(await both({ KUBECONFIG: paths('config') })).toBe('refused');
});

test.each([
  ['a token file beside the kubeconfig', { tokenFile: 'token' }],
  ['a token file that is missing, and a token', { tokenFile: 'none', token: 'instead' }],
  ['a token file and a token', { tokenFile: 'token', token: 'instead' }],
  ['a name and a password', { username: 'ann', password: 'p:w' }],
  ['another identity', { token: 't', as: 'bob', 'as-uid': '7', 'as-groups': ['viewers', 'ops'] }],
  ['extra fields of another identity', { token: 't', as: 'bob', 'as-user-extra': { 'example.com/scope': ['a'] } }],
])('credentials: %s', async (_, user) => {
  await write('kube/token', 'from-the-file\n');
  await write('kube/config', config('staging', { user }));
  expect(await both({ KUBECONFIG: paths('kube/config') })).toMatchObject({ who: 'staging' });
});

describe('a credential plugin', () => {
  const exec = (more: object = {}) => ({
    exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './bin/login', interactiveMode: 'Never', ...more },
  });
  const printing = (token: string) =>
    `#!/bin/sh\necho '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'${token}'"}}'\n`;

  test('relative to the kubeconfig, not to the working directory', async () => {
    await write('work/bin/login', printing('of-the-working-directory'), 0o700);
    await write('kube/bin/login', printing('right'), 0o700);
    await write('kube/config', config('staging', { user: exec() }));
    const found = await both({ KUBECONFIG: paths('kube/config') });
    expect(found).toEqual({ who: 'staging', headers: { authorization: 'Bearer right' } });
  });

  test('by the PATH, with arguments, variables and what it gets about the cluster', async () => {
    await write('bin/login', printing('$1-$WHO-$(echo $KUBERNETES_EXEC_INFO | grep -c server)'), 0o700);
    const more = { command: 'login', args: ['a'], env: [{ name: 'WHO', value: 'b' }], provideClusterInfo: true };
    await write('config', config('staging', { user: exec(more) }));
    const env = { KUBECONFIG: paths('config'), PATH: `${paths('bin')}:${process.env.PATH}` };
    expect(await both(env)).toEqual({ who: 'staging', headers: { authorization: 'Bearer a-b-1' } });
  });

  test.each([
    ['fails', '#!/bin/sh\nexit 3\n'],
    ['prints no credential', '#!/bin/sh\necho "{}"\n'],
    ['is missing', undefined],
  ])('that %s', async (_, script) => {
    if (script) await write('kube/bin/login', script, 0o700);
    await write('kube/config', config('staging', { user: exec() }));
    expect(await both({ KUBECONFIG: paths('kube/config') })).toBe('refused');
  });

  test('whose token is refused is run again, once', async () => {
    await write('kube/bin/login', `#!/bin/sh\necho x >> ${directory}/runs\n${printing('old').split('\n')[1]}\n`, 0o700);
    await write('kube/config', config('staging', { user: exec() }));
    refuses = true;
    await reach(process.execPath, [program, 'list'], { KUBECONFIG: paths('kube/config') });
    refuses = false;
    expect(await readFile(join(directory, 'runs'), 'utf8')).toBe('x\nx\n');
  });

  test('that must ask is refused without a terminal', async () => {
    await write('kube/bin/login', printing('asked'), 0o700);
    await write('kube/config', config('staging', { user: exec({ interactiveMode: 'Always' }) }));
    expect(await both({ KUBECONFIG: paths('kube/config') })).toBe('refused');
  });
});

test('certificates, relative to the kubeconfig, and in one way only', async () => {
  const { cert, key } = certificates.client;
  for (const [name, path] of Object.entries({
    'ca.crt': certificates.ca,
    'other.crt': certificates.otherCa,
    'me.crt': cert,
    'me.key': key,
  }))
    await write(`kube/${name}`, await readFile(path, 'utf8'));
  const user = { 'client-certificate': 'me.crt', 'client-key': 'me.key' };
  const cluster = { 'certificate-authority-data': '', 'certificate-authority': 'ca.crt' };
  await write('kube/config', config('staging', { user, cluster }));
  expect(await both({ KUBECONFIG: paths('kube/config') })).toMatchObject({ who: 'staging', certificate: 'client' });
  await write('kube/both', config('staging', { user, cluster: { 'certificate-authority': 'ca.crt' } }));
  expect(await both({ KUBECONFIG: paths('kube/both') })).toBe('refused');
  const other = { 'certificate-authority-data': await readFile(certificates.otherCa, 'base64') };
  await write('other', config('staging', { cluster: other }));
  expect(await both({ KUBECONFIG: paths('other') })).toBe('refused');
  await write(
    'any',
    config('staging', { cluster: { 'certificate-authority-data': '', 'insecure-skip-tls-verify': true } as object }),
  );
  expect(await both({ KUBECONFIG: paths('any') })).toMatchObject({ who: 'staging' });
});

// kubectl asks for a name and a password. Without a terminal, 1.34 then ends, and 1.32 goes on without.
test('without a credential nothing is sent', async () => {
  const cases: Record<string, object>[] = [{ users: [] }, { user: { token: '' } }, { user: { as: 'bob' } }];
  for (const more of cases) {
    await write('config', config('staging', more));
    expect(await reach(process.execPath, [program, 'list'], { KUBECONFIG: paths('config') })).toBe('refused');
  }
});

test('a server without a scheme is http, whatever authority is given', async () => {
  const server = origin('staging').replace('https://', '');
  await write('config', config('staging', { cluster: { server } as object }));
  expect(await both({ KUBECONFIG: paths('config') })).toBe('refused');
  const plain = { server: origin('plain').replace('http://', ''), 'certificate-authority-data': '' };
  await write('config', config('staging', { cluster: plain as object }));
  expect(await both({ KUBECONFIG: paths('config') })).toMatchObject({ who: 'plain' });
});

test('a number is not a token', async () => {
  const written = config('staging', { user: { token: 'NUMBER' } }).replace('"NUMBER"', '12345678901234567890');
  await write('config', written);
  expect(await both({ KUBECONFIG: paths('config') })).toBe('refused');
});

test('plain HTTP gets no credentials', async () => {
  await write('token', 'secret');
  for (const user of [{ token: 't', as: 'bob' }, { tokenFile: 'token' }, { username: 'a', password: 'b' }]) {
    await write('config', config('plain', { user }));
    expect(await both({ KUBECONFIG: paths('config') })).toMatchObject({ who: 'plain' });
  }
});

test('proxies', async () => {
  const cluster = { server: 'https://api.example.invalid', 'tls-server-name': 'localhost' };
  await write('config', config('prod', { cluster }));
  await write('own', config('prod', { cluster: { ...cluster, 'proxy-url': origin('plain') } }));
  expect(await both({ KUBECONFIG: paths('own') })).toMatchObject({ who: 'proxy' });
  expect(await both({ KUBECONFIG: paths('config'), HTTPS_PROXY: origin('plain') })).toMatchObject({ who: 'proxy' });
  const except = { KUBECONFIG: paths('config'), HTTPS_PROXY: origin('plain'), NO_PROXY: '.example.invalid' };
  expect(await both(except)).toBe('refused');
  await write('local', config('staging'));
  expect(await both({ KUBECONFIG: paths('local'), HTTPS_PROXY: origin('plain') })).toMatchObject({ who: 'staging' });
});
