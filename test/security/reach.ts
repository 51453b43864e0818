import { container, podSpec } from '../e2e/support/manifests';
import type { Namespace } from '../e2e/support/namespace';
import { agentImage } from '../e2e/support/settings';

/** Address and port, by the name of the target. */
export type Targets = Readonly<Record<string, readonly [host: string, port: number]>>;

/** A pod with the agent's image. */
export interface At {
  readonly namespace: Namespace;
  readonly pod: string;
  readonly container?: string;
}

// Dropped packets are not answered: a connection that is allowed takes far less than this.
const program = `
  const targets = JSON.parse(process.argv[1]);
  const reached = Object.entries(targets).map(([name, [host, port]]) => new Promise((done) => {
    const socket = require('net').connect({ host, port });
    const end = (found) => { socket.destroy(); done(found); };
    socket.once('connect', () => end([name])).once('error', () => end([])).setTimeout(4000, () => end([]));
  }));
  Promise.all(reached).then((found) => console.log(JSON.stringify(found.flat())));
`;

/** Returns the targets to which a pod can open a TCP connection. */
export async function reached({ namespace, pod, container = 'main' }: At, targets: Targets): Promise<string[]> {
  return JSON.parse(await run({ namespace, pod, container }, program, JSON.stringify(targets)));
}

/** Returns the body of an answer over HTTP or HTTPS, with any certificate. */
export async function get({ namespace, pod, container = 'main' }: At, url: string): Promise<string> {
  const program = `
    const [url] = process.argv.slice(1);
    require(url.split(':')[0]).get(url, { rejectUnauthorized: false, timeout: 4000 }, (answer) => answer.pipe(process.stdout))
      .on('error', () => {}).on('timeout', () => process.exit(0));
  `;
  return run({ namespace, pod, container }, program, url);
}

/** Returns true if a name resolves. */
export async function resolves({ namespace, pod, container = 'main' }: At, name: string): Promise<boolean> {
  const program = `
    setTimeout(() => process.exit(console.log('false')), 4000);
    require('dns').lookup(process.argv[1], (error) => process.exit(console.log(String(!error))));
  `;
  return (await run({ namespace, pod, container }, program, name)).trim() === 'true';
}

async function run({ namespace, pod, container = 'main' }: At, program: string, argument: string): Promise<string> {
  const exec = ['exec', pod, '-c', container, '--', 'node', '-e', program, '--', argument];
  return (await namespace.kubectl(exec)).stdout;
}

/** Starts a pod that only listens on 8080. Returns its address. */
export async function startPod(
  namespace: Namespace,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<string> {
  const listen = "require('net').createServer((socket) => socket.end()).listen(8080)";
  const main = container('main', agentImage, { command: ['node', '-e', listen] });
  const spec = podSpec({ automountServiceAccountToken: false, containers: [main] });
  await namespace.apply([{ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec }]);
  await namespace.kubectl(['wait', '--for=condition=Ready', '--timeout=120s', `pod/${name}`]);
  return addressOf(namespace, name);
}

export async function addressOf(namespace: Namespace, pod: string): Promise<string> {
  return (await namespace.get('pod', pod)).status.podIP;
}
