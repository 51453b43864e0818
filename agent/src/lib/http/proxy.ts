import { BlockList, isIP } from 'node:net';
import { usageError } from '../errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables in the form that Node's agents accept. */
export interface Proxies {
  readonly HTTP_PROXY?: string;
  readonly HTTPS_PROXY?: string;
  readonly NO_PROXY?: string;
}

const HTTP = ['http:', 'https:'];
const SOCKS = ['socks5:', 'socks5h:'];
const LOOPBACK = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Returns the environment's proxies for a store at this endpoint (undefined: AWS), or undefined if there are none. Like
 * most programs, it never uses a proxy for this machine, and a name in NO_PROXY includes its subdomains. NO_PROXY may
 * also contain networks such as 10.0.0.0/8.
 */
export function proxiesFor(endpoint: URL | undefined, env: Environment = process.env): Proxies | undefined {
  const names = exceptions(env);
  if (endpoint && (LOOPBACK.test(endpoint.hostname) || isInNetwork(endpoint.hostname, names))) return undefined;
  const [HTTP_PROXY, HTTPS_PROXY] = [proxyIn(env, 'HTTP_PROXY'), proxyIn(env, 'HTTPS_PROXY')];
  if (!HTTP_PROXY && !HTTPS_PROXY) return undefined;
  // For Node, example.com does not include its subdomains.
  const NO_PROXY = names.flatMap((name) => (/^[.*]|\//.test(name) || isIP(name) ? [name] : [name, `.${name}`])).join();
  return { HTTP_PROXY, HTTPS_PROXY, NO_PROXY };
}

/** The proxy's address without its password, for messages. */
export function proxyName(endpoint: URL | undefined, proxies: Proxies | undefined): string | undefined {
  const proxy = endpoint?.protocol === 'http:' ? proxies?.HTTP_PROXY : proxies?.HTTPS_PROXY;
  return proxy && new URL(proxy).host;
}

/**
 * Returns the proxy for one server, or undefined. kubectl takes SOCKS proxies too, and the same variables (Go's
 * net/http: ProxyFromEnvironment).
 */
export function proxyOf(server: URL, env: Environment = process.env): string | undefined {
  const names = exceptions(env);
  if (LOOPBACK.test(server.hostname) || isInNetwork(server.hostname, names)) return undefined;
  if (names.some((name) => isException(server, name))) return undefined;
  return proxyIn(env, server.protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY', [...HTTP, ...SOCKS]);
}

/** `.example.com` and `*.example.com` are subdomains only; a port restricts an entry to it. */
function isException({ hostname, port, protocol }: URL, entry: string): boolean {
  // A colon of an IPv6 address does not begin a port.
  if (isIP(entry) === 6) return URL.parse(`http://[${entry}]`)?.hostname === hostname;
  const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  if (wanted !== undefined && wanted !== (port || (protocol === 'http:' ? '80' : '443'))) return false;
  const domain = name.replace(/^\*?\./, '');
  return name === '*' || (name === domain && hostname === domain) || hostname.endsWith(`.${domain}`);
}

const exceptions = (env: Environment): string[] =>
  (read(env, 'NO_PROXY') ?? '').split(/[\s,]+/).filter((name) => name !== '');

const read = (env: Environment, name: string) => (env[name.toLowerCase()] ?? env[name])?.trim() || undefined;

function proxyIn(env: Environment, name: string, protocols: readonly string[] = HTTP): string | undefined {
  const text = read(env, name);
  if (!text) return undefined;
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url && protocols.includes(url.protocol) && url.hostname !== '') return url.href;
  // The value is not printed, because it may contain a password.
  throw usageError(`${name}: is not the URL of a proxy; write http://host:port`);
}

function isInNetwork(hostname: string, names: readonly string[]): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = (text: string) => (isIP(text) === 6 ? 'ipv6' : 'ipv4');
  if (!isIP(address)) return false;
  const networks = new BlockList();
  for (const name of names) {
    const [network = '', bits = ''] = name.split('/');
    const largest = isIP(network) === 6 ? 128 : 32;
    if (isIP(network) && /^\d+$/.test(bits) && Number(bits) <= largest) {
      networks.addSubnet(network, Number(bits), family(network));
    }
  }
  return networks.check(address, family(address));
}
