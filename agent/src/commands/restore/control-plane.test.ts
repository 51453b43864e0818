import { errorLike } from '../../../test/support/error-like.ts';
import type { EtcdNode } from '../../control-plane/node/node.ts';
import type { CommandContext } from '../cli/command.ts';
import { run } from './control-plane.ts';
import { refuseNode } from './control-plane-request.ts';

const [, program] = process.argv;
beforeEach(() => {
  process.argv[1] = '/opt/etcd-agent/agent.mjs';
});
afterEach(() => {
  process.argv[1] = program!;
});

const MANIFESTS = '/nowhere/kubernetes/manifests';

test.each(['plan', 'stop', 'undo', 'check', 'none'])(
  'a journal inside the container is refused with --%s',
  async (mode) => {
    const settings = { flag: (name: string) => name === mode, required: () => MANIFESTS, text: () => undefined };
    await expect(run({ settings } as unknown as CommandContext)).rejects.toThrow(
      errorLike(/^\/nowhere\/kubernetes is inside the container/, { at: 'journalDir' }),
    );
  },
);

test('manifests inside the container are refused, unless something else runs etcd', async () => {
  const member = { dataDir: '/nowhere/etcd', listenPeerUrls: ['http://127.0.0.1:2380'], clientUrls: [] };
  const refusal = (kind: string) =>
    refuseNode({ kind, source: 'this node', member } as unknown as EtcdNode, {
      manifestsDir: MANIFESTS,
      journalDir: '/nowhere',
    });
  await expect(refusal('static-pod')).rejects.toThrow(`${MANIFESTS} is not mounted into this container`);
  await expect(refusal('systemd')).rejects.toThrow('/nowhere/etcd is not mounted into this container');
});
