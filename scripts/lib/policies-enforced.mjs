const listen = "require('net').createServer((socket) => socket.end()).listen(8080)";
const connect = `
  const socket = require('net').connect(8080, process.argv[1]);
  const end = (answer) => process.exit(console.log(answer));
  socket.once('connect', () => end('reached')).once('error', () => end('refused'));
  setTimeout(() => end('dropped'), 4000);
`;

const pod = (namespace, name, image) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec: {
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    containers: [{ name, image, imagePullPolicy: 'IfNotPresent', command: ['node', '-e', listen] }],
  },
});

const denyAll = (namespace) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'deny-all', namespace },
  spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
});

/**
 * Checks that a Kubernetes enforces NetworkPolicies: a pod must reach another pod before a policy denies it, and not
 * afterwards.
 */
export function policiesEnforced(kubernetes, image) {
  const namespace = `etcd-e2e-policies-${process.pid}`;
  const labels = { 'app.kubernetes.io/part-of': 'cdk8s-etcd-e2e' };
  const inside = (...args) => kubernetes.kubectl(`--namespace=${namespace}`, ...args);
  kubernetes.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
  try {
    kubernetes.apply(pod(namespace, 'one', image), pod(namespace, 'other', image));
    inside('wait', '--for=condition=Ready', '--timeout=120s', 'pod/one', 'pod/other');
    const address = inside('get', 'pod', 'other', '-o', 'jsonpath={.status.podIP}');
    const answer = () => inside('exec', 'one', '--', 'node', '-e', connect, '--', address);
    const before = answer();
    if (before !== 'reached') kubernetes.give(`a pod does not reach another: ${before}`);
    kubernetes.apply(denyAll(namespace));
    // Some plugins need a moment.
    return answer() !== 'reached' || answer() !== 'reached';
  } finally {
    kubernetes.kubectl('delete', 'namespace', namespace, '--wait=false');
  }
}
