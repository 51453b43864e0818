import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readKubeConfig } from './kube-config.ts';
import { kubeConfigAccess } from './kube-config-access.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kube-config-'));
});
afterEach(() => rm(directory, { recursive: true }));

interface Parts {
  readonly server?: string;
  readonly cluster?: object;
  readonly user?: object;
  readonly more?: object;
}

/** A kubeconfig whose context, cluster and user are all called `name`. */
async function file(path: string, name: string, { server, cluster, user, more }: Parts = {}): Promise<string> {
  const to = join(directory, path);
  await mkdir(join(to, '..'), { recursive: true });
  const config = {
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name, namespace: `${name}-space` } }],
    clusters: [{ name, cluster: { server: server ?? `https://${name}.example`, ...cluster } }],
    users: [{ name, user: user ?? { token: `token-of-${name}` } }],
    ...more,
  };
  await writeFile(to, JSON.stringify(config));
  return to;
}

const read = (files: readonly string[], choice = {}) => readKubeConfig(choice, { KUBECONFIG: files.join(':') });
const headersOf = async (path: string) => (await (await kubeConfigAccess({ file: path })).options()).headers;

describe('the files', () => {
  test('the first that has a current context or a name wins', async () => {
    const staging = await file('staging', 'staging');
    const prod = await file('prod', 'prod');
    const other = await file('other', 'staging', { server: 'https://other.example' });
    expect(await read([staging, prod])).toMatchObject({ context: 'staging', namespace: 'staging-space' });
    expect((await read([staging, prod], { context: 'prod' }))?.cluster.server).toBe('https://prod.example');
    expect((await read([staging, other]))?.cluster.server).toBe('https://staging.example');
    expect((await read([other, staging]))?.cluster.server).toBe('https://other.example');
  });

  test('one that does not exist or is empty is skipped; one that was demanded must exist', async () => {
    const staging = await file('staging', 'staging');
    await writeFile(join(directory, 'empty'), '');
    expect((await read([join(directory, 'none'), join(directory, 'empty'), '', staging]))?.context).toBe('staging');
    expect(await read([join(directory, 'none')])).toBeUndefined();
    await expect(read([staging], { file: join(directory, 'none') })).rejects.toThrow(
      /kubeconfig: .*none: cannot be read \(ENOENT\)/,
    );
  });

  test('one that cannot be read is not skipped: the next one may be of another cluster', async () => {
    const prod = await file('prod', 'prod');
    await symlink('loop', join(directory, 'loop'));
    await expect(read([join(directory, 'loop'), prod])).rejects.toThrow(/loop: cannot be read \(ELOOP\)/);
  });

  test('one may be a pipe, such as that of a shell', async () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const written = readFile(await file('staging', 'staging')).then((content) => writeFile(pipe, content));
    expect((await read([pipe]))?.context).toBe('staging');
    await written;
  });

  test.each([
    ['certificate-authority', { cluster: { 'certificate-authority': 'pipe' } }],
    ['client-key', { user: { 'client-certificate-data': 'x', 'client-key': 'pipe' } }],
    ['tokenFile', { user: { tokenFile: 'pipe' } }],
  ])('%s must not be a pipe, which each request would wait for', async (_, parts) => {
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    const config = await file('config', 'a', parts);
    await expect(read([config])).rejects.toThrow(/^kubeconfig: .*pipe is not a regular file$/);
  });

  test('in a pod, the default one is left out if this user may not read it; elsewhere it is not', async () => {
    await file('home/.kube/config', 'a');
    await chmod(join(directory, 'home'), 0);
    const asOther = async (variables: object) => {
      const isRoot = process.geteuid!() === 0;
      if (isRoot) process.seteuid!(65_534);
      try {
        return await readKubeConfig({}, { HOME: join(directory, 'home'), ...variables });
      } finally {
        if (isRoot) process.seteuid!(0);
      }
    };
    try {
      expect(await asOther({ KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toBeUndefined();
      await expect(asOther({})).rejects.toThrow(/^kubeconfig: .*config: cannot be read \(EACCES\)/);
    } finally {
      await chmod(join(directory, 'home'), 0o700);
    }
  });

  test('relative paths begin at their own file', async () => {
    const config = await file('kube/config', 'a', {
      cluster: { 'certificate-authority': 'ca.crt' },
      user: {
        'client-certificate': 'me.crt',
        'client-key': '/me.key',
        tokenFile: 'token',
        exec: { command: './login' },
      },
    });
    expect(await read([config])).toMatchObject({
      cluster: { caFile: join(directory, 'kube/ca.crt') },
      user: {
        user: { certFile: join(directory, 'kube/me.crt'), keyFile: '/me.key' },
        tokenFile: join(directory, 'kube/token'),
        exec: { command: join(directory, 'kube/login') },
      },
    });
  });

  test.each([
    ['two names in one list', { users: [{ name: 'a' }, { name: 'a' }] }, /users has two entries with the name 'a'/],
    ['no cluster of that name', { clusters: [] }, /names the cluster 'a', which does not exist/],
    ['no current context', { 'current-context': '' }, /no context is chosen; pass --context \(known: a\)/],
    [
      'a server that is no URL',
      { clusters: [{ name: 'a', cluster: { server: 'https://a b' } }] },
      /has no valid server/,
    ],
  ])('%s', async (_, more, message) => {
    const config = await file('config', 'a', { more });
    await expect(read([config])).rejects.toThrow(message);
  });

  test('what is not YAML is refused without a word of it', async () => {
    const config = join(directory, 'config');
    await writeFile(config, 'users: [{ token: hidden');
    await expect(read([config])).rejects.toThrow(`kubeconfig: ${config}: is not valid YAML`);
  });
});

describe('the credentials', () => {
  test('a token from a file, which wins and is read again', async () => {
    await writeFile(join(directory, 'token'), 'first\n');
    const access = await kubeConfigAccess({
      file: await file('config', 'a', { user: { tokenFile: 'token', token: 'x' } }),
    });
    expect((await access.options()).headers).toMatchObject({ Authorization: 'Bearer first' });
    await writeFile(join(directory, 'token'), 'second\n');
    expect((await access.options()).headers).toMatchObject({ Authorization: 'Bearer second' });
    await rm(join(directory, 'token'));
    expect((await access.options()).headers).toMatchObject({ Authorization: 'Bearer x' });
  });

  test('another identity, with all of it', async () => {
    const user = {
      token: 't',
      as: 'bob',
      'as-uid': '7',
      'as-groups': ['viewers', 'ops'],
      'as-user-extra': { 'a/b': ['c'] },
    };
    expect(await headersOf(await file('config', 'a', { user }))).toEqual({
      Authorization: 'Bearer t',
      'Impersonate-User': 'bob',
      'Impersonate-Uid': '7',
      'Impersonate-Group': ['viewers', 'ops'],
      'Impersonate-Extra-a%2Fb': ['c'],
    });
  });

  test('none: over https nothing is sent', async () => {
    const more = { contexts: [{ name: 'a', context: { cluster: 'a' } }] };
    const config = await file('config', 'a', { more });
    await expect(kubeConfigAccess({ file: config })).rejects.toThrow(
      "the user '' of the context 'a' has no credentials",
    );
  });
});

test.each([
  [{}, undefined],
  [{ HTTPS_PROXY: 'http://proxy.example:3128' }, 'proxy.example'],
  [{ HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: '.example' }, undefined],
  [{ HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: 'a.example:8443' }, 'proxy.example'],
  [{ HTTP_PROXY: 'http://proxy.example:3128' }, undefined],
])('with %j the proxy is %s', async (variables, proxy) => {
  const access = await kubeConfigAccess({}, { ...variables, KUBECONFIG: await file('config', 'a') });
  const { agent } = await access.options();
  expect((agent as { proxy?: URL } | undefined)?.proxy?.hostname).toBe(proxy);
});
