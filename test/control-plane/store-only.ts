import { onNode } from './nodes';
import type { StoreServer } from './store-server';

const CHAIN = 'CONTROL-PLANE-TEST';

/**
 * While `work` runs these nodes can send to nobody but themselves, the store, and each other's etcd: no API server, no
 * registry, no DNS.
 */
export async function withStoreOnly<T>(
  nodes: readonly string[],
  { host, port }: Pick<StoreServer, 'host' | 'port'>,
  work: () => Promise<T>,
): Promise<T> {
  const allowed = [
    '-o lo',
    `-p tcp -d ${host} --dport ${port}`,
    // A member's peer URL and client URL, as one that asks and as one that answers.
    '-p tcp -m multiport --dports 2379,2380',
    '-p tcp -m multiport --sports 2379,2380',
  ];
  const rules = allowed.map((rule) => `iptables -A ${CHAIN} ${rule} -j RETURN`);
  const cut = [`iptables -N ${CHAIN}`, ...rules, `iptables -A ${CHAIN} -j REJECT`, `iptables -I OUTPUT 1 -j ${CHAIN}`];
  const mend = [`iptables -D OUTPUT -j ${CHAIN}`, `iptables -F ${CHAIN}`, `iptables -X ${CHAIN}`];
  try {
    await Promise.all(nodes.map((node) => onNode(node, ...cut)));
    return await work();
  } finally {
    await Promise.all(nodes.map((node) => onNode(node, mend.join('; '))));
  }
}
