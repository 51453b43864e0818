/** The ports of a member. Metrics are plain http, also beside TLS: they carry the probes of the kubelet. */
export const ports = { client: 2379, peer: 2380, metrics: 2381, agent: 8080 } as const;
