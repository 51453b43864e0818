import { closeSync, constants, openSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';
import { codeOf, usageError } from '../lib/errors.ts';
import { readFileOrPipe } from '../lib/files/read-file-or-pipe.ts';
import { parseYaml } from '../lib/input/yaml.ts';
import type { ExecConfig } from './exec-credential.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface KubeConfigChoice {
  /** Uses only this file. */
  readonly file?: string | undefined;
  readonly context?: string | undefined;
  /** Ends what waits for somebody else: for the writer of a pipe, and for a credential plugin. */
  readonly signal?: AbortSignal | undefined;
}

/** One context with what it names. */
export interface KubeConfig {
  readonly context: string;
  readonly namespace?: string | undefined;
  readonly cluster: Cluster;
  readonly user: UserConfig;
  /** Extension of the cluster that its credential plugin gets. */
  readonly execExtension?: unknown;
}

export interface UserConfig {
  /** What the client library understands. */
  readonly user: User;
  readonly exec?: ExecConfig | undefined;
  readonly tokenFile?: string | undefined;
  /** Headers with which the API server lets this user act as another. */
  readonly impersonation: Readonly<Record<string, string | string[]>>;
}

/** An entry of a kubeconfig, whose relative paths begin at `directory`. */
interface Entry {
  readonly value: Fields;
  readonly directory: string;
}

type Fields = Readonly<Record<string, unknown>>;
type Entries = ReadonlyMap<string, Entry>;

interface Merged {
  readonly current: string | undefined;
  readonly contexts: Entries;
  readonly clusters: Entries;
  readonly users: Entries;
}

/**
 * Reads the kubeconfig as kubectl does: `file` alone, or every file of KUBECONFIG that exists, or ~/.kube/config. The
 * first file that has a name or a current context wins. Returns undefined if there is no file and none was demanded.
 */
export async function readKubeConfig(
  { file, context, signal }: KubeConfigChoice,
  env: Environment,
): Promise<KubeConfig | undefined> {
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((name) => name !== '');
  const byDefault = join(env.HOME ?? homedir(), '.kube/config');
  const candidates = listed.length > 0 ? listed : isOfOtherUser(byDefault, env) ? [] : [byDefault];
  const files = file === undefined ? candidates.filter(isThere) : [file];
  if (files.length === 0) return undefined;
  return select(merge(await Promise.all(files.map((each) => parse(each, signal)))), context);
}

/** In a pod, whose user is not always that of HOME, the token of the pod is used instead. */
function isOfOtherUser(file: string, { KUBERNETES_SERVICE_HOST: inPod }: Environment): boolean {
  if (!inPod) return false;
  try {
    closeSync(openSync(file, constants.O_RDONLY | constants.O_NONBLOCK));
    return false;
  } catch (error) {
    return codeOf(error) === 'EACCES';
  }
}

/** What is there and cannot be read ends the command when it is parsed. */
function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function merge(parsed: readonly Merged[]): Merged {
  const first = (field: 'contexts' | 'clusters' | 'users'): Entries =>
    new Map(parsed.toReversed().flatMap((each) => [...each[field]]));
  return {
    current: parsed.find(({ current }) => current)?.current,
    contexts: first('contexts'),
    clusters: first('clusters'),
    users: first('users'),
  };
}

async function parse(file: string, signal: AbortSignal | undefined): Promise<Merged> {
  const directory = dirname(resolve(file));
  const content = fields(await contentOf(file, signal));
  const entries = (list: string, field: string): Entries => {
    const found = new Map<string, Entry>();
    const items = content[list] ?? [];
    if (!Array.isArray(items)) throw mistake(`${file}: ${list} is not a list`);
    for (const item of items.map(fields)) {
      const name = text(item.name);
      if (name === undefined) throw mistake(`${file}: an entry of ${list} has no name`);
      if (found.has(name)) throw mistake(`${file}: ${list} has two entries with the name '${name}'`);
      found.set(name, { value: fields(item[field]), directory });
    }
    return found;
  };
  return {
    current: text(content['current-context']),
    contexts: entries('contexts', 'context'),
    clusters: entries('clusters', 'cluster'),
    users: entries('users', 'user'),
  };
}

async function contentOf(file: string, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return parseYaml(await readFileOrPipe(file, signal));
  } catch (error) {
    signal?.throwIfAborted();
    // A message of the YAML library quotes the line, which may have a token.
    const code = codeOf(error);
    throw mistake(`${file}: ${code?.startsWith('E') ? `cannot be read (${code})` : 'is not valid YAML'}`);
  }
}

function select(merged: Merged, wanted: string | undefined): KubeConfig {
  const context = wanted ?? merged.current ?? '';
  const found = merged.contexts.get(context);
  const known = `known: ${[...merged.contexts.keys()].join(', ') || 'none'}`;
  if (!found && context === '') throw mistake(`no context is chosen; pass --context (${known})`);
  if (!found) throw mistake(`there is no context '${context}'; ${known}`);
  const { cluster, user, namespace } = found.value;
  const clusterEntry = merged.clusters.get(text(cluster) ?? '');
  if (!clusterEntry)
    throw mistake(`the context '${context}' names the cluster '${cluster ?? ''}', which does not exist`);
  const userName = text(user) ?? '';
  const server = clusterOf(text(cluster)!, clusterEntry);
  const access = userOf(userName, merged.users.get(userName));
  if (server.server.startsWith('https:') && !identifies(access))
    throw mistake(`the user '${userName}' of the context '${context}' has no credentials`);
  return {
    context,
    namespace: text(namespace),
    cluster: server,
    user: access,
    execExtension: extensionOf(clusterEntry.value),
  };
}

function clusterOf(name: string, entry: Entry): Cluster {
  const { value } = entry;
  const given = text(value.server)?.replace(/\/$/, '');
  const authority = dataOrFile(entry, 'certificate-authority', ['caData', 'caFile']);
  const skipTLSVerify = value['insecure-skip-tls-verify'] === true;
  const server = given && (/^https?:\/\//i.test(given) ? given : `http://${given}`);
  if (!server || !URL.canParse(server)) throw mistake(`the cluster '${name}' has no valid server`);
  return {
    name,
    server,
    skipTLSVerify,
    ...authority,
    tlsServerName: text(value['tls-server-name']),
    proxyUrl: text(value['proxy-url']),
  } as Cluster;
}

function userOf(name: string, entry: Entry = { value: {}, directory: '' }): UserConfig {
  const { value, directory } = entry;
  const exec = value.exec ? fields(value.exec) : undefined;
  const tokenFile = path(value.tokenFile, directory);
  const user = {
    name,
    ...dataOrFile(entry, 'client-certificate', ['certData', 'certFile']),
    ...dataOrFile(entry, 'client-key', ['keyData', 'keyFile']),
    token: text(value.token),
    username: text(value.username),
    password: text(value.password),
    authProvider: value['auth-provider'],
  } as User;
  const command = text(exec?.command);
  if (exec && command === undefined) throw mistake(`the user '${name}': exec has no command`);
  return {
    user,
    impersonation: impersonationOf(value),
    tokenFile,
    // A command without a slash is looked up in the PATH.
    exec: exec && { ...exec, command: command!.includes('/') ? resolve(directory, command!) : command! },
  };
}

/** Without any of these, kubectl asks for a name and a password. */
const identifies = ({ user, exec, tokenFile }: UserConfig): boolean =>
  [user.token, user.username, user.certData, user.certFile, user.authProvider, exec, tokenFile].some(Boolean);

function impersonationOf(user: Fields): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const [as, uid, groups] = [text(user.as), text(user['as-uid']), user['as-groups']];
  if (as !== undefined) headers['Impersonate-User'] = as;
  if (uid !== undefined) headers['Impersonate-Uid'] = uid;
  if (Array.isArray(groups)) headers['Impersonate-Group'] = groups.map(String);
  for (const [key, values] of Object.entries(fields(user['as-user-extra'])))
    headers[`Impersonate-Extra-${encodeURIComponent(key)}`] = Array.isArray(values) ? values.map(String) : [];
  return headers;
}

/** As kubectl, refuses one value that is given in two ways. */
function dataOrFile(
  { value, directory }: Entry,
  field: string,
  [data, file]: readonly [string, string],
): Record<string, string | undefined> {
  const given = text(value[`${field}-data`]);
  if (given !== undefined && text(value[field]) !== undefined)
    throw mistake(`${field} and ${field}-data are both given; keep one`);
  return { [data]: given, [file]: path(value[field], directory) };
}

function extensionOf(cluster: Fields): unknown {
  const extensions = Array.isArray(cluster.extensions) ? cluster.extensions.map(fields) : [];
  return extensions.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension;
}

const fields = (value: unknown): Fields => (value && typeof value === 'object' ? (value as Fields) : {});

/** A number is refused as by kubectl: digits of a token may be lost. */
function text(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw mistake(`${JSON.stringify(value)} is not a text; put quotes around it`);
  return value;
}

const path = (value: unknown, directory: string): string | undefined => {
  const given = text(value);
  if (given === undefined) return undefined;
  const file = resolve(directory, given);
  // It is read for every request, and nothing could interrupt that.
  if (isOther(file)) throw mistake(`${file} is not a regular file`);
  return file;
};

/** Not of what cannot be read, which may not be needed. */
function isOther(file: string): boolean {
  try {
    return !statSync(file).isFile();
  } catch {
    return false;
  }
}

export const mistake = (message: string) => usageError(`kubeconfig: ${message}`);
