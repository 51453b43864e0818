import { container, podSpec } from '../../e2e/support/manifests';
import type { MemberCluster } from '../../e2e/support/member-cluster';
import type { Namespace } from '../../e2e/support/namespace';

const file = '/data/ballast';

// Most of the file is allocated without writing it. The rest is written, to the last byte.
const fill = `
  free=$(df -Pk /data | tail -1 | awk '{ print $4 }')
  n=$(ls /data | grep -c ballast)
  [ "$free" -gt 16384 ] && fallocate -l "$((free - 8192))K" ${file}-$n-a
  cat /dev/zero >${file}-$n-b
  true`;

/** A file that fills a member's volume, written by another pod on the same node. */
export class Ballast {
  static async beside(namespace: Namespace, cluster: MemberCluster, ordinal: number): Promise<Ballast> {
    const member = (await namespace.get('pod', cluster.pod(ordinal))).spec;
    const name = `ballast-${ordinal}`;
    const shell = container('shell', 'docker.io/library/busybox:1.35', {
      command: ['sleep', '86400'],
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    });
    const spec = podSpec({
      // The volume is on this node; its files belong to the group of the member's pod.
      nodeName: member.nodeName,
      securityContext: member.securityContext,
      containers: [shell],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `data-${cluster.pod(ordinal)}` } }],
    });
    await namespace.apply([{ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }]);
    await namespace.kubectl(['wait', '--for=condition=Ready', '--timeout=120s', `pod/${name}`]);
    return new Ballast(namespace, name);
  }

  private constructor(
    private readonly namespace: Namespace,
    private readonly pod: string,
  ) {}

  /** Fills the volume to the last byte, including space that has become free since. */
  fill(): Promise<string> {
    return this.sh(fill);
  }

  /** Leaves this share free, in percent. */
  fillTo(percent: number): Promise<string> {
    const space = "df -Pk /data | tail -1 | awk '{ print int($4 - $2 * PERCENT / 100) }'";
    return this.sh(`fallocate -l "$(${space.replace('PERCENT', String(percent))})K" ${file}`);
  }

  drop(): Promise<string> {
    return this.sh(`rm -f ${file}*`);
  }

  /** Deletes the pod, so that it no longer uses the claim. The file stays. */
  async leave(): Promise<void> {
    await this.namespace.kubectl(['delete', 'pod', this.pod]);
  }

  private async sh(script: string): Promise<string> {
    return (await this.namespace.kubectl(['exec', this.pod, '--', 'sh', '-c', script])).stdout;
  }
}
