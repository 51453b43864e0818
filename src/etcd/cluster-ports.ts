/**
 * The ports of a member. Metrics are served over plain http even with TLS, because the kubelet's probes use that port.
 */
export const ports = { client: 2379, peer: 2380, metrics: 2381, backup: 2382, agent: 8080 } as const;
