import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import type { Host } from '../../../backup/catalog/manifest.ts';
import { quoted } from '../../../lib/quoted.ts';
import { flagsOfArguments } from '../etcd-flags.ts';
import { addresses, hostOf } from '../local-address.ts';
import { API_SERVER_MANIFEST } from '../manifests.ts';
import { readStaticPod } from '../static-pod.ts';

/** The certificate of another node's API server, and the machine that it is from. */
export interface OtherServer {
  readonly pem: string;
  readonly host?: Host | undefined;
}

/**
 * The command that creates this node's certificates for the addresses and names of this cluster. Without flags, kubeadm takes its
 * defaults: pods would not reach the API server at the address of its Service.
 */
export async function certificatesCommand(
  manifestsDir: string,
  phase: 'all' | 'apiserver',
  other?: OtherServer,
): Promise<string> {
  const pod = await readStaticPod(join(manifestsDir, API_SERVER_MANIFEST), 'kube-apiserver').catch(() => undefined);
  const flags = flagsOfArguments(pod?.args ?? []);
  const domain = /^https:\/\/kubernetes\.default\.svc\.([\w.-]+)$/.exec(flags['service-account-issuer'] ?? '')?.[1];
  const names = [...(await endpointOf(manifestsDir)), ...(other ? furtherNames(other, serviceAddress(flags)) : [])];
  // Without a version, kubeadm asks the internet for one.
  const version = /:(v\d+\.\d+\.\d+)/.exec(pod?.image ?? '')?.[1];
  const given: readonly [string, string | undefined][] = [
    ['kubernetes-version', version],
    ['apiserver-advertise-address', flags['advertise-address']],
    ['service-cidr', flags['service-cluster-ip-range']],
    ['service-dns-domain', domain],
    ['apiserver-cert-extra-sans', [...new Set(names)].join(',') || undefined],
  ];
  const options = given.flatMap(([name, value]) => (value === undefined ? [] : [quoted(`--${name}=${value}`)]));
  return ['kubeadm init phase certs', phase, ...options].join(' ');
}

/** Where the kubeconfig of this node expects the API servers, unless that is this node itself. */
async function endpointOf(manifestsDir: string): Promise<string[]> {
  for (const name of ['admin.conf', 'kubelet.conf']) {
    const text = await readFile(join(dirname(manifestsDir), name), 'utf8').catch(() => '');
    const server = /^\s*server:\s*["']?([^\s"']+)/m.exec(text)?.[1];
    const host = server && hostOf(server);
    if (host) return addresses().has(host) ? [] : [host];
  }
  return [];
}

/** The names in the certificate that kubeadm adds to none by itself, without those of the other node. */
function furtherNames({ pem, host }: OtherServer, service: string | undefined): string[] {
  const own = [
    host?.nodeName,
    service,
    ...(host?.etcd?.command ?? []).flatMap((word) => word.split(/[=,]/).map(hostOf)),
  ];
  const isOfKubeadm = (name: string) => /^kubernetes(\.default(\.svc(\..+)?)?)?$/.test(name);
  return namesIn(pem).filter((name) => !isOfKubeadm(name) && !own.includes(name));
}

function namesIn(pem: string): string[] {
  try {
    const { subjectAltName = '' } = new X509Certificate(pem);
    return subjectAltName.split(', ').flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1] ?? []);
  } catch {
    return [];
  }
}

/** Address of the Service `kubernetes.default`: the first one of the first range. */
export function serviceAddress(flags: Readonly<Record<string, string>>): string | undefined {
  const [network = '', bits = ''] = (flags['service-cluster-ip-range'] ?? '').split(',')[0]!.split('/');
  if (isIP(network) === 0 || !/^\d+$/.test(bits)) return undefined;
  const [width, size] = isIP(network) === 4 ? [8, 4] : [16, 8];
  const host = BigInt(width * size - Number(bits));
  const value = ((numberOf(network) >> host) << host) + 1n;
  const parts = Array.from(
    { length: size },
    (_, n) => (value >> BigInt(width * (size - 1 - n))) & ((1n << BigInt(width)) - 1n),
  );
  return width === 8 ? parts.join('.') : hostOf(`http://[${parts.map((part) => part.toString(16)).join(':')}]`);
}

function numberOf(address: string): bigint {
  if (isIP(address) === 4) return address.split('.').reduce((sum, part) => (sum << 8n) + BigInt(part), 0n);
  const [head, tail] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array<string>(8 - head!.length - (tail?.length ?? 0)).fill('0');
  return [...head!, ...zeros, ...(tail ?? [])].reduce((sum, part) => (sum << 16n) + BigInt(`0x${part}`), 0n);
}
