/** The agent image of this release. */
export const agentImage = 'ghcr.io/cdk8s-etcd/agent:0.1.0';

/** The same with an etcd of each minor version: with these the gate of a member salvages its data. */
export const memberImage = 'ghcr.io/cdk8s-etcd/member:0.1.0';

/** Whether these images exist for everyone. The commit after a release sets the next version, and false. */
export const isReleased: boolean = false;
