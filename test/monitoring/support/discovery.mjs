// Finds what Prometheus' own discovery of the role `endpoints` finds: the addresses behind each Service of the namespaces in
// NAMESPACES, with the labels that the operator's configuration reads. Runs in the agent's image.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const account = '/var/run/secrets/kubernetes.io/serviceaccount';
const meta = (name) => `__meta_kubernetes_${name}`;
const safe = (label) => label.replaceAll(/\W/g, '_');

async function list(namespace, plural) {
  const authorization = `Bearer ${readFileSync(`${account}/token`, 'utf8')}`;
  const url = `https://kubernetes.default.svc/api/v1/namespaces/${namespace}/${plural}`;
  const answer = await fetch(url, { headers: { authorization }, signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return (await answer.json()).items;
}

function labelsOf(kind, labels = {}) {
  const entries = Object.entries(labels).flatMap(([name, value]) => [
    [meta(`${kind}_label_${safe(name)}`), value],
    [meta(`${kind}_labelpresent_${safe(name)}`), 'true'],
  ]);
  return Object.fromEntries(entries);
}

function podLabels(pod, port) {
  if (!pod) return {};
  const owner = pod.spec.containers.find(({ ports = [] }) => ports.some(({ containerPort }) => containerPort === port));
  return {
    ...labelsOf('pod', pod.metadata.labels),
    [meta('pod_name')]: pod.metadata.name,
    [meta('pod_phase')]: pod.status.phase,
    [meta('pod_ip')]: pod.status.podIP ?? '',
    [meta('pod_node_name')]: pod.spec.nodeName ?? '',
    [meta('pod_container_name')]: owner?.name ?? '',
  };
}

async function targets(namespace) {
  const [services, endpoints, pods] = await Promise.all(
    ['services', 'endpoints', 'pods'].map((plural) => list(namespace, plural)),
  );
  return endpoints.flatMap(({ metadata, subsets = [] }) => {
    const service = services.find((each) => each.metadata.name === metadata.name);
    if (!service) return [];
    const ofService = { ...labelsOf('service', service.metadata.labels), [meta('service_name')]: metadata.name };
    return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
      [...addresses, ...notReadyAddresses].flatMap(({ ip, targetRef }) =>
        ports.map(({ name = '', port }) => ({
          targets: [`${ip}:${port}`],
          labels: {
            ...ofService,
            [meta('namespace')]: namespace,
            [meta('endpoint_port_name')]: name,
            [meta('endpoint_address_target_kind')]: targetRef?.kind ?? '',
            [meta('endpoint_address_target_name')]: targetRef?.name ?? '',
            ...podLabels(
              pods.find((each) => each.metadata.name === targetRef?.name),
              port,
            ),
          },
        })),
      ),
    );
  });
}

// The first process of a container ends by no signal that it does not handle.
process.once('SIGTERM', () => process.exit(0));

let found;

createServer((_, response) => {
  if (found) response.setHeader('content-type', 'application/json').end(JSON.stringify(found));
  else response.writeHead(503).end();
}).listen(9099, '127.0.0.1');

// Prometheus waits for an answer no longer than until it asks again.
for (;;) {
  try {
    found = (await Promise.all(process.env.NAMESPACES.split(',').map(targets))).flat();
  } catch (error) {
    console.error(error.message);
  }
  await sleep(1_000);
}
