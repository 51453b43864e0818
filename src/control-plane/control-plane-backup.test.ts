import { Chart, Cron, Testing } from 'cdk8s';
import { parse } from 'yaml';
import { checkSchema, restrictedProblems } from '../../test/kubernetes';
import { argumentsOf, cronJobOf, type Manifest, manifestsOf, podOf, s3, schedule, storesOf } from '../../test/synth';
import {
  BackupStore,
  CaBundle,
  Compression,
  ControlPlaneEtcdBackup,
  type ControlPlaneEtcdBackupProps,
  Encryption,
  EtcdBackup,
  RestoreSource,
  Retention,
  S3Credentials,
  SftpCredentials,
} from '..';

const recipients = ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'];
const others = ['age1l52wqul6mupxel84hdf9dwtma8n7zxjmt0nwz4h38fde94ne7ppqh6sg7v'];
const onHost = BackupStore.filesystem({ hostPath: '/var/backups/etcd', directory: 'eu' });
const onClaim = BackupStore.filesystem({ claimName: 'backups' });

function controlPlane(
  props: Partial<ControlPlaneEtcdBackupProps> = {},
  namespace: string | undefined = 'etcd-backup',
): ControlPlaneEtcdBackup {
  const chart = new Chart(Testing.app(), 'platform', { namespace });
  return new ControlPlaneEtcdBackup(chart, 'hourly', {
    ...{ cluster: 'prod', schedule: Cron.hourly(), store: s3 },
    ...props,
  });
}

const byKind = (backup: ControlPlaneEtcdBackup, wanted: string): Manifest =>
  manifestsOf(backup).find(({ kind }) => kind === wanted);
const staticPod = (backup: ControlPlaneEtcdBackup, store?: number): Manifest => parse(backup.restorePodYaml(store));
const hostPathsOf = (pod: Manifest) =>
  pod.volumes.flatMap(({ name, hostPath }: Manifest) => {
    if (!hostPath) return [];
    const { mountPath, readOnly } = pod.containers[0].volumeMounts.find((mount: Manifest) => mount.name === name);
    return [`${hostPath.type} ${hostPath.path} on ${mountPath}${readOnly ? '' : ', writable'}`];
  });

describe('the least that can be given', () => {
  // GIVEN nothing but what is required
  const backup = controlPlane();

  test('makes a namespace first, then what lies in it', () => {
    expect(manifestsOf(backup).map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual([
      'Namespace undefined/etcd-backup',
      'ServiceAccount etcd-backup/prod-hourly',
      'CronJob etcd-backup/prod-hourly',
      'DaemonSet etcd-backup/prod-hourly-image',
    ]);
    for (const manifest of manifestsOf(backup)) checkSchema(manifest);
  });

  test('takes the snapshot from etcd on the node, with the files of kubeadm, and nothing of the node is writable', () => {
    expect(argumentsOf(backup).slice(0, 7)).toEqual([
      'backup',
      '--cluster=prod',
      '--endpoints=https://127.0.0.1:2379',
      '--cacert=/etc/etcd-agent/tls/ca.crt',
      '--cert=/etc/etcd-agent/tls/tls.crt',
      '--key=/etc/etcd-agent/tls/tls.key',
      '--etcd-manifest=/etc/etcd-agent/etcd.yaml',
    ]);
    expect(hostPathsOf(podOf(backup))).toEqual([
      'File /etc/kubernetes/pki/etcd/ca.crt on /etc/etcd-agent/tls/ca.crt',
      'File /etc/kubernetes/pki/etcd/healthcheck-client.crt on /etc/etcd-agent/tls/tls.crt',
      'File /etc/kubernetes/pki/etcd/healthcheck-client.key on /etc/etcd-agent/tls/tls.key',
      'File /etc/kubernetes/manifests/etcd.yaml on /etc/etcd-agent/etcd.yaml',
    ]);
  });

  test('runs on any control-plane node, tainted or not, one run at a time, and not behind a dead one', () => {
    const { affinity, tolerations, hostNetwork, dnsPolicy, containers } = podOf(backup);
    const { nodeSelectorTerms } = affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    const control = { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' };
    expect(nodeSelectorTerms).toEqual([{ matchExpressions: [control] }]);
    expect(tolerations).toEqual([
      control,
      // The taint of nodes that were created before Kubernetes 1.24.
      { key: 'node-role.kubernetes.io/master', operator: 'Exists' },
    ]);
    expect([hostNetwork, dnsPolicy]).toEqual([true, 'Default']);
    expect(containers[0].ports).toBeUndefined();
    expect(cronJobOf(backup).spec.concurrencyPolicy).toBe('Replace');
    expect(cronJobOf(schedule()).spec.concurrencyPolicy).toBe('Forbid');
  });

  test('is root without any capability, and violates the restricted standard only where it needs the privileged namespace', () => {
    const pod = podOf(backup);
    expect(restrictedProblems(pod)).toEqual([
      ...['host namespaces', 'volume types'],
      ...['running as non-root', 'non-root user'],
    ]);
    expect(pod.hostPID).toBeUndefined();
    expect(pod.containers[0].securityContext.capabilities).toEqual({ drop: ['ALL'] });
    expect(byKind(backup, 'Namespace').metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'privileged',
    });
  });

  test('reports the node that it ran on', () => {
    expect(podOf(backup).containers[0].env).toContainEqual({
      name: 'ETCD_AGENT_NODE_NAME',
      valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } },
    });
  });
});

describe('the DaemonSet', () => {
  test('keeps the image of the backup where backups run, with no rights at all', () => {
    const image = 'registry.example.com/agent:1';
    const backup = controlPlane({
      ...{ image, imagePullSecrets: ['registry'], nodeLabels: ['node-role.kubernetes.io/etcd'] },
      labels: { team: 'platform' },
      annotations: { 'example.com/a': 'b' },
    });
    const { metadata, spec } = byKind(backup, 'DaemonSet');
    const { selector, template } = spec;
    for (const { annotations } of [metadata, byKind(backup, 'Namespace').metadata])
      expect(annotations).toEqual({ 'example.com/a': 'b' });
    const { affinity, tolerations } = podOf(backup);
    expect(template.spec).toMatchObject({ affinity, tolerations, imagePullSecrets: [{ name: 'registry' }] });
    expect(template.spec.containers).toMatchObject([{ image, args: ['keep-image'] }]);
    expect(restrictedProblems(template.spec)).toEqual([]);
    expect(template.metadata.labels).toMatchObject({ team: 'platform', ...selector.matchLabels });
    // No pod of a backup is taken for one of its own.
    expect(cronJobOf(backup).spec.jobTemplate.spec.template.metadata.labels).not.toMatchObject(selector.matchLabels);
  });

  test('has what the schedule says of pods', () => {
    const fields = { schedulerName: 'own', runtimeClassName: 'sandboxed' };
    const { metadata, spec } = byKind(
      controlPlane({
        ...{ ...fields, annotations: { note: 'a' }, podLabels: { tier: 'b' }, podAnnotations: { note: 'c' } },
        container: { env: [{ name: 'A', value: 'a' }] },
      }),
      'DaemonSet',
    );
    expect(metadata.annotations).toEqual({ note: 'a' });
    const { metadata: ofPod, spec: pod } = spec.template;
    expect(ofPod).toMatchObject({ labels: { tier: 'b', ...spec.selector.matchLabels }, annotations: { note: 'c' } });
    expect(pod).toMatchObject(fields);
    expect(pod.containers[0].env).toBeUndefined();
    expect(restrictedProblems(pod)).toEqual([]);
  });

  test('is left out when asked for', () => {
    expect(byKind(controlPlane({ keepImage: false }), 'DaemonSet')).toBeUndefined();
  });
});

test('a namespace that exists is not made', () => {
  const backup = controlPlane({ createNamespace: false }, 'kube-system');
  expect(byKind(backup, 'Namespace')).toBeUndefined();
  expect(cronJobOf(backup).metadata.namespace).toBe('kube-system');
});

describe('every property reaches its field or flag', () => {
  test('of the node', () => {
    const backup = controlPlane({
      endpoints: ['https://10.0.0.1:2379', '10.0.0.2:2379'],
      certificates: { ca: '/etc/etcd/ca.pem', key: '/etc/etcd/client.key' },
      nodeLabels: ['example.com/etcd', 'node-role.kubernetes.io/master'],
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      manifestsDirectory: '/etc/kubelet/pods',
    });
    expect(argumentsOf(backup)).toContain('--endpoints=https://10.0.0.1:2379,https://10.0.0.2:2379');
    expect(hostPathsOf(podOf(backup))).toEqual([
      'File /etc/etcd/ca.pem on /etc/etcd-agent/tls/ca.crt',
      'File /etc/kubernetes/pki/etcd/healthcheck-client.crt on /etc/etcd-agent/tls/tls.crt',
      'File /etc/etcd/client.key on /etc/etcd-agent/tls/tls.key',
      'File /etc/kubelet/pods/etcd.yaml on /etc/etcd-agent/etcd.yaml',
    ]);
    expect(podOf(backup).tolerations.map(({ key }: Manifest) => key)).toEqual([
      ...['example.com/etcd', 'node-role.kubernetes.io/master', 'dedicated'],
    ]);
    // Terms are alternatives; the expressions of one term would all have to hold.
    expect(
      podOf(backup).affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms,
    ).toEqual(
      ['example.com/etcd', 'node-role.kubernetes.io/master'].map((key) => ({
        matchExpressions: [{ key, operator: 'Exists' }],
      })),
    );
  });

  test('of an etcd that is a service', () => {
    const backup = controlPlane({ etcdService: true });
    expect(argumentsOf(backup)).toContain('--etcd-process');
    expect(argumentsOf(backup).filter((argument) => argument.startsWith('--etcd-manifest'))).toEqual([]);
    expect(podOf(backup).hostPID).toBe(true);
    expect(hostPathsOf(podOf(backup))).toHaveLength(3);
  });

  test('of files to store', () => {
    const file = '/etc/kubernetes/enc/encryption.yaml';
    const backup = controlPlane({ files: { files: [file], encryption: Encryption.age({ recipients }) } });
    expect(argumentsOf(backup).filter((argument) => /^--(extra|age)/.test(argument))).toEqual([
      '--extra-path=/etc/kubernetes/pki',
      `--extra-path=${file}`,
      `--extra-age-recipient=${recipients[0]}`,
    ]);
    expect(hostPathsOf(podOf(backup)).slice(4)).toEqual([
      'Directory /etc/kubernetes/pki on /etc/kubernetes/pki',
      `File ${file} on ${file}`,
    ]);
  });

  test('of files that are encrypted as the snapshot is', () => {
    const backup = controlPlane({ files: { directories: ['/etc/pki'] }, encryption: Encryption.age({ recipients }) });
    expect(argumentsOf(backup).filter((argument) => /^--(extra|age)/.test(argument))).toEqual([
      `--age-recipient=${recipients[0]}`,
      '--extra-path=/etc/pki',
    ]);
  });
});

describe('stores', () => {
  test('a directory of the node is all of the node that is writable', () => {
    const backup = controlPlane({ store: onHost, retention: Retention.last(5) });
    backup.addStore(s3);
    expect(hostPathsOf(podOf(backup)).filter((path: string) => path.endsWith('writable'))).toEqual([
      'DirectoryOrCreate /var/backups/etcd on /backup/0, writable',
    ]);
    expect(storesOf(backup)).toEqual([
      { filesystem: { path: '/backup/0/eu' }, retention: { last: 5 } },
      { s3: expect.anything() },
    ]);
  });

  test('no pod that may run anywhere has a directory of the node', () => {
    const problem = 'store: hostPath: is only for a ControlPlaneEtcdBackup, because other pods run on any node';
    expect(schedule({ store: onHost }).node.validate()).toEqual([expect.stringContaining(problem)]);
    const chart = new Chart(Testing.app(), 'shop');
    const now = new EtcdBackup(chart, 'now', { endpoints: ['etcd:2379'], store: onHost });
    expect(now.node.validate()).toEqual([expect.stringContaining(problem)]);
    expect(RestoreSource.snapshot(onHost, 'a')._problems()).toEqual([expect.stringContaining(problem)]);
  });
});

test('names as other tools have them, in local time', () => {
  const fileName = 'etcd-snapshot-%Y%m%d-%H%M%S.db';
  const backup = controlPlane({ fileName, fileNameTimeZone: 'Asia/Shanghai', compression: Compression.NONE });
  expect(argumentsOf(backup)).toEqual(
    expect.arrayContaining([
      '--file-name=etcd-snapshot-%Y%m%d-%H%M%S',
      '--file-name-time-zone=Asia/Shanghai',
      '--compression=none',
    ]),
  );
  expect(backup.node.validate()).toEqual([]);
  const compressed = controlPlane({ fileName });
  expect(compressed.node.validate()).toEqual([
    expect.stringContaining('would not end in .db; choose the compression none'),
  ]);
});

describe('etcd-restore.yaml', () => {
  const sftp = BackupStore.sftp({ host: 'b', credentials: SftpCredentials.fromSecret('s', { usernameKey: 'u' }) });
  const ceph = BackupStore.s3({
    ...{ endpoint: 'https://ceph:7480', bucket: 'etcd', credentials: S3Credentials.fromSecret('s3') },
    ca: CaBundle.fromSecret('ca'),
  });

  test('is a Pod that refers to no object of the API', () => {
    // GIVEN a backup with everything that a pod of the API takes from Secrets
    const backup = controlPlane({
      ...{ store: sftp, retention: Retention.last(5), encryption: Encryption.age({ recipients }) },
      ...{ serviceAccountName: 'backup', imagePullSecrets: ['registry'] },
    });
    // WHEN
    const pod = staticPod(backup);
    // THEN
    checkSchema(pod);
    expect(pod.spec).toMatchObject({ automountServiceAccountToken: false, hostNetwork: true, hostPID: true });
    expect(pod.spec).not.toHaveProperty('serviceAccountName');
    expect(pod.spec).not.toHaveProperty('imagePullSecrets');
    expect(JSON.stringify(pod)).not.toMatch(/[kK]eyRef|secretName|configMap|projected/);
    expect(pod.spec.containers[0].imagePullPolicy).toBe('IfNotPresent');
    expect(hostPathsOf(pod.spec)).toEqual([
      'Directory /etc/kubernetes on /etc/kubernetes, writable',
      'DirectoryOrCreate /var/lib/etcd on /var/lib/etcd, writable',
      'Directory /etc/etcd-restore on /etc/etcd-restore',
    ]);
    expect(pod.spec.volumes.slice(3)).toEqual([{ name: 'tmp', emptyDir: {} }]);
    expect(pod.spec.containers[0].args).toEqual([
      ...['restore', 'control-plane', '--manifests-dir=/etc/kubernetes/manifests'],
      ...['--cluster=prod', '--namespace=etcd-backup'],
      '--store={"sftp":{"host":"b","credentialsDirectory":"/etc/etcd-restore/credentials"}}',
      ...['--age-identity-file=/etc/etcd-restore/age', '--config=/etc/etcd-restore/restore.yaml', '--output=json'],
    ]);
  });

  test('is started only by the kubelet: no scheduler accepts an applied pod', () => {
    expect(staticPod(controlPlane()).spec.schedulerName).toBe('static-pods-only');
  });

  test('may be root, give files back to their owners, and no more', () => {
    const { spec } = staticPod(controlPlane());
    expect(spec.containers[0].securityContext).toEqual({
      ...{ runAsUser: 0, runAsGroup: 0, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'], add: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SYS_PTRACE'] },
    });
  });

  test('has the image of the backup, and the paths of the node', () => {
    const image = 'registry.example.com/agent:1';
    const paths = { dataDir: '/data/etcd', restoreDirectory: '/root/restore', manifestsDirectory: '/etc/k/pods' };
    const { spec } = staticPod(controlPlane({ image, ...paths }));
    expect(hostPathsOf(spec).map((path: string) => path.split(' ')[1])).toEqual([
      ...['/etc/k', '/data/etcd', '/root/restore'],
    ]);
    expect(spec.containers[0]).toMatchObject({ image });
    expect(spec.containers[0].args).toEqual(
      expect.arrayContaining(['--manifests-dir=/etc/k/pods', '--config=/root/restore/restore.yaml']),
    );
  });

  test.each<[string, BackupStore, object]>([
    ['an authority', ceph, { s3: expect.objectContaining({ caFile: '/etc/etcd-restore/ca.crt' }) }],
    [
      'a workload identity, of which nothing is left then',
      BackupStore.s3({ bucket: 'etcd', region: 'r', credentials: S3Credentials.workloadIdentity() }),
      { s3: { bucket: 'etcd', region: 'r', credentialsDirectory: '/etc/etcd-restore/credentials' } },
    ],
    ['a directory of the node', onHost, { filesystem: { path: '/var/backups/etcd/eu' } }],
  ])('reads from a store with %s', (_, store, expected) => {
    const { containers } = staticPod(controlPlane({ store, retention: Retention.last(2) })).spec;
    const [argument] = containers[0].args.filter((each: string) => each.startsWith('--store='));
    expect(JSON.parse(argument.slice('--store='.length))).toEqual(expected);
  });

  test('reads from the store with the given number, and refuses stores that it cannot use', () => {
    const backup = controlPlane({ store: onClaim });
    backup.addStore(sftp);
    expect(staticPod(backup, 2).spec.containers[0].args).toContainEqual(expect.stringContaining('{"sftp":'));
    expect(() => backup.restorePodYaml()).toThrow(/^platform\/hourly: restorePodYaml: store 1 is a volume/);
    expect(() => backup.restorePodYaml(3)).toThrow(/there is no store 3; give a number from 1 to 2$/);
    expect(() => controlPlane({ etcdService: true }).restorePodYaml()).toThrow(
      /etcd is a service of the node, which no static Pod can stop/,
    );
  });
});

describe('a mistake is one line with the path and what to do', () => {
  const encryption = Encryption.age({ recipients: others });
  test.each<[Partial<ControlPlaneEtcdBackupProps>, string]>([
    [{ cluster: 'a/b', name: 'c' }, "cluster: 'a/b' is not a valid cluster name"],
    [
      { endpoints: ['http://127.0.0.1:2379'] },
      "endpoints: 'http://127.0.0.1:2379' is plain http, but TLS settings are given",
    ],
    [{ nodeLabels: [] }, 'nodeLabels: is empty: give at least 1 item'],
    [{ nodeLabels: ['a=b'] }, "nodeLabels[0]: 'a=b' is not a valid name of a label"],
    [{ certificates: { key: 'client.key' } }, "certificates.key: 'client.key' is not an absolute path on a node"],
    [{ dataDir: '/var/lib/../etcd' }, "dataDir: '/var/lib/../etcd' is not an absolute path"],
    [{ restoreDirectory: '/root/' }, "restoreDirectory: '/root/' is not an absolute path"],
    [{ manifestsDirectory: '/pods' }, "manifestsDirectory: '/pods' is in the root directory of the node"],
    [{ etcdService: true, manifestsDirectory: '/etc/k/pods' }, 'manifestsDirectory: has no effect with etcdService'],
    [
      { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
      'affinity: must not require nodes',
    ],
    [{ files: {} }, 'files: contain keys, so they are stored only with encryption: give encryption'],
    [{ encryption, files: { directories: [] } }, 'files: is empty'],
    [{ encryption, files: { files: ['/a,b'] } }, "files.files[0]: '/a,b' is not an absolute path"],
    [{ encryption, files: { files: ['/a', '/a'] } }, "files: '/a' is given twice"],
    [{ files: { encryption: Encryption.age({ recipients: [] }) } }, 'files: encryption: recipients: is empty'],
    [{ store: BackupStore.filesystem({ hostPath: 'backups' }) }, "store: hostPath: 'backups' is not an absolute path"],
  ])('%# %s', (props, message) => {
    expect(controlPlane(props).node.validate()).toEqual([expect.stringContaining(message)]);
  });

  test('a value of another class is reported at once', () => {
    const wrong = { files: { directories: '/etc/kubernetes/pki' } } as unknown as ControlPlaneEtcdBackupProps;
    expect(() => controlPlane(wrong)).toThrow(
      /^platform\/hourly: files.directories: '.*' is not a list; write it in brackets/,
    );
  });

  test('the namespace has to be one of its own', () => {
    const chart = new Chart(Testing.app(), 'platform');
    const props = { cluster: 'prod', schedule: Cron.hourly(), store: s3 };
    const backup = new ControlPlaneEtcdBackup(chart, 'hourly', props);
    expect(backup.node.validate()).toEqual([expect.stringContaining('namespace: the chart has none; give it its own')]);
    expect(controlPlane({}, 'kube-system').node.validate()).toEqual([
      expect.stringContaining("namespace: 'kube-system' belongs to Kubernetes"),
    ]);
  });

  test('two of a namespace', () => {
    const chart = new Chart(Testing.app(), 'platform', { namespace: 'etcd-backup' });
    const props = { cluster: 'prod', schedule: Cron.hourly(), store: s3 };
    new ControlPlaneEtcdBackup(chart, 'hourly', props);
    const second = new ControlPlaneEtcdBackup(chart, 'daily', props);
    expect(second.node.validate()).toEqual([expect.stringContaining('another Namespace of this chart is called')]);
    new ControlPlaneEtcdBackup(chart, 'weekly', { ...props, createNamespace: false });
    expect(chart.node.findChild('weekly').node.validate()).toEqual([]);
  });
});
