import type { ClientTls } from './client-tls.ts';
import { ClusterContext, type ContextOptions } from './cluster-context.ts';

const buffer = (text: string) => Buffer.from(text);
const alsoTrust = { trustSecret: 'trust', peerSecret: 'b', serverSecret: 'd', clientSecret: 'f' };
const trusting = (...trusted: string[]) => ({ peers: { own: trusted[0]!, trusted } });

describe('the authorities by which members are verified', () => {
  let read: () => Promise<Buffer | undefined>;
  let context: ClusterContext;
  const spec = (tls: object) =>
    context.setCluster({ metadata: { name: 'orders' }, spec: { tls: { clientSecret: 'own', ...tls } } } as never);
  const ca = async () => `${(await context.tls())!.ca}`;

  beforeEach(() => {
    const material = async () => ({ ca: buffer('B'), cert: buffer('c'), key: buffer('k'), servername: 'orders' });
    const clientTls = { material, authorities: () => read() } as unknown as ClientTls;
    context = new ClusterContext({ name: 'orders', namespace: 'shop', clientTls } as ContextOptions);
    read = async () => buffer('A+B');
  });

  test('those of both sources while they are named, also if they cannot be read for a while', async () => {
    spec({});
    expect(await ca()).toBe('B');
    spec({ alsoTrust });
    read = async () => undefined;
    expect(await ca()).toBe('B');
    read = async () => buffer('A+B');
    expect(await ca()).toBe('B\nA+B');
    read = () => Promise.reject(new Error('secrets "trust" is forbidden'));
    expect(await ca()).toBe('B\nA+B');
  });

  test('they are kept until no pod trusts both, as they may have been given up too early', async () => {
    spec({ alsoTrust });
    expect(await ca()).toBe('B\nA+B');
    context.setPods([trusting('a', 'b'), trusting('b')]);
    spec({});
    expect(await ca()).toBe('B\nA+B');
    context.setPods([trusting('b'), trusting('b')]);
    expect(await ca()).toBe('B');
  });
});
