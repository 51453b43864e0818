/** The agent image of this release. */
export const agentImage = 'ghcr.io/cdk8s-etcd/agent:0.1.0';
