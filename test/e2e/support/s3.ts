import { randomBytes } from 'node:crypto';
import { BackupStore, CaBundle, S3Credentials } from '../../../src';
import { Authority } from './certificates';
import { container, headlessService, podSpec, secret, statefulSet } from './manifests';
import type { Namespace } from './namespace';

export const bucket = 'etcd-backup';
export const keys = { AWS_ACCESS_KEY_ID: 'end-to-end', AWS_SECRET_ACCESS_KEY: randomBytes(20).toString('hex') };
const credentials = secret('s3-credentials', keys);
const busybox = 'docker.io/library/busybox:1.35';
const data = { name: 'data', mountPath: '/data' };
const tls = { name: 'tls', mountPath: '/tls', readOnly: true };

/** An S3 server with a certificate of its own authority, and one bucket. */
export class S3 {
  /** `plain`: without a certificate. */
  static async start(namespace: Namespace, { plain = false } = {}): Promise<S3> {
    const authority = await Authority.create();
    await namespace.apply([
      await authority.secret('s3-server', ['s3', `s3.${namespace.name}.svc`]),
      credentials,
      headlessService('s3', 7070),
      statefulSet('s3', 1, pod(plain)),
    ]);
    await namespace.ready('statefulset', 's3');
    return new S3(namespace, `${plain ? 'http' : 'https'}://s3:7070`);
  }

  private constructor(
    private readonly namespace: Namespace,
    private readonly endpoint: string,
  ) {}

  /** The same, for backups of another namespace. */
  async from(namespace: Namespace): Promise<S3> {
    const { data } = await this.namespace.get('secret', 's3-server');
    const ca = { ...secret('s3-server', {}), data: { 'ca.crt': data['ca.crt'] } };
    await namespace.apply([ca, credentials]);
    return new S3(this.namespace, `https://s3.${this.namespace.name}.svc:7070`);
  }

  /** As the backups see it. */
  store({ secretName = 's3-credentials', ...props }: { bucket?: string; secretName?: string } = {}): BackupStore {
    return BackupStore.s3({
      endpoint: this.endpoint,
      ca: CaBundle.fromSecret('s3-server'),
      bucket,
      credentials: S3Credentials.fromSecret(secretName),
      ...props,
    });
  }

  /** The same credentials under another name. */
  grant(secretName: string): Promise<void> {
    return this.namespace.apply([secret(secretName, keys)]);
  }

  /** Its objects other than snapshots: manifests, notes, an index. */
  async documents(): Promise<string> {
    const show = "find /data -type f -name '*.json' -exec cat {} +";
    const { stdout } = await this.namespace.kubectl(['exec', 's3-0', '-c', 'shell', '--', 'sh', '-c', show]);
    return stdout;
  }

  /** Every file of the bucket, unfinished uploads too. */
  async files(): Promise<string[]> {
    const find = ['exec', 's3-0', '-c', 'shell', '--', 'find', `/data/${bucket}`, '-type', 'f'];
    const { stdout } = await this.namespace.kubectl(find);
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((path) => path.slice(`/data/${bucket}/`.length));
  }
}

const fromSecret = (name: string, key: string) => ({
  name,
  valueFrom: { secretKeyRef: { name: 's3-credentials', key } },
});

const pod = (plain: boolean) =>
  podSpec({
    initContainers: [
      container('bucket', busybox, { command: ['mkdir', '-p', `/data/${bucket}`], volumeMounts: [data] }),
    ],
    containers: [
      container('s3', 'ghcr.io/versity/versitygw:v1.8.0', {
        args: [...(plain ? [] : ['--cert', '/tls/tls.crt', '--key', '/tls/tls.key']), 'posix', '/data'],
        env: [
          fromSecret('ROOT_ACCESS_KEY', 'AWS_ACCESS_KEY_ID'),
          fromSecret('ROOT_SECRET_KEY', 'AWS_SECRET_ACCESS_KEY'),
        ],
        readinessProbe: { tcpSocket: { port: 7070 }, periodSeconds: 1 },
        volumeMounts: [data, tls],
      }),
      container('shell', busybox, { command: ['sleep', '86400'], volumeMounts: [data] }),
    ],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'tls', secret: { secretName: 's3-server' } },
    ],
  });
