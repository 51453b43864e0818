import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { container, podSpec } from './support/manifests';
import { Namespace } from './support/namespace';
import { runPod } from './support/pods';
import { agentImage } from './support/settings';

let namespace: Namespace;
beforeAll(async () => {
  namespace = await Namespace.create('image');
});
afterAll(() => namespace?.delete());

const program = readFileSync(join(__dirname, 'support/image-probe.mjs'), 'utf8');
const pod = podSpec({
  automountServiceAccountToken: false,
  // Without runAsUser the user is the image's own.
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    container('probe', agentImage, {
      command: ['node', '--input-type=module', '--eval', program],
      volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
    }),
  ],
  volumes: [{ name: 'tmp', emptyDir: {} }],
});

test('the image is a restricted pod by itself: not root, no shell, nothing to write to, and names are resolved', async () => {
  const found = JSON.parse(await runPod(namespace, 'probe', pod));
  const { spec } = await namespace.get('service', 'kubernetes', '--namespace=default');
  expect(found).toEqual({
    user: [65532, 65532],
    node: 'v24',
    etcdutl: expect.stringMatching(/^etcdutl version: 3\.\d+\.\d+$/),
    etcds: ['3.5', '3.6', '3.7'].map((minor) => expect.stringContaining(`etcd Version: ${minor}.`)),
    shells: [],
    programs: ['etcd-agent', 'etcdutl', 'node'],
    root: 'EROFS',
    temporary: 'written',
    apiServer: spec.clusterIP,
  });
});
