// Written by `npm run generate` from scripts/crds/. A field with a default of the schema may be missing in what is written,

// and never is in what the API server returns.

export interface LocalObjectReference {
  /** Its name. */
  readonly name: string;
}

export interface ManagedTlsSpec {
  /** The Secret with the authority of the connections between members. Default: <cluster>-peer-ca. */
  readonly peerAuthority?: string;
  /** The Secret with the authority of servers and clients. Default: <cluster>-client-ca. */
  readonly clientAuthority?: string;
  /** Further DNS names and IP addresses in the certificate that members present to clients. */
  readonly serverNames?: readonly string[];
  /** Any text. If it changes, the reconciler creates new intermediate authorities and issues all certificates anew. */
  readonly intermediateRotation?: string;
  /** Any text. If it changes, the reconciler issues all certificates anew and revokes the earlier intermediates, so that nobody with an earlier certificate can connect. No member restarts. */
  readonly intermediateRevocation?: string;
  /** Any text. If it changes, the reconciler replaces the roots of both authorities. Each member must restart once. */
  readonly rootRotation?: string;
}

export interface CertManagerTlsSpec {
  /** The Issuer or ClusterIssuer of all certificates, or with peerIssuer of those of servers and clients. */
  readonly issuer: string;
  /** The kind of issuer. Default: Issuer. */
  readonly issuerKind?: 'Issuer' | 'ClusterIssuer';
  /** Another issuer for the certificates that members use for each other. */
  readonly peerIssuer?: string;
  /** The kind of peerIssuer. Default: issuerKind. */
  readonly peerIssuerKind?: 'Issuer' | 'ClusterIssuer';
  /** Further DNS names and IP addresses in the certificate that members present to clients. */
  readonly serverNames?: readonly string[];
  /** How long a certificate is valid, at least 1h. Default: 90 days, which is the default of cert-manager. */
  readonly duration?: string;
  /** How long before it expires a certificate is renewed, at least 5m. Default: a third of duration. */
  readonly renewBefore?: string;
}

export interface AlsoTrustSpec {
  /** The Secret with the authorities of both sources. It must exist: the reconciler fills it. Default: <cluster>-tls-trust. */
  readonly trustSecret?: string;
  /** The Secret with the certificate that members use for each other. Default: <cluster>-peer-tls with managed, else <cluster>-peer-cert. */
  readonly peerSecret?: string;
  /** The Secret with the certificate that members present to clients. Default: <cluster>-server-tls with managed, else <cluster>-server-cert. */
  readonly serverSecret?: string;
  /** The Secret with a client certificate (ca.crt, tls.crt, tls.key): for clients, and without rootSecret and backupSecret for the reconciler and for backups too. Default: <cluster>-client-tls with managed, else <cluster>-client-cert. */
  readonly clientSecret?: string;
  /** The Secret with a client certificate whose common name is root, for the reconciler and the members. Users of etcd need it. Default: <cluster>-root-tls with managed, <cluster>-root-cert with certManager, and none if clientSecret is given. */
  readonly rootSecret?: string;
  /** The Secret with a client certificate whose common name is <cluster>-backup, for backups. Default: as that of rootSecret. */
  readonly backupSecret?: string;
  /** Lets the reconciler issue the certificates. The Secrets must exist: the reconciler only fills them. */
  readonly managed?: ManagedTlsSpec;
  /** Lets cert-manager issue the certificates: its Certificates are objects of the cluster, and write the Secrets. */
  readonly certManager?: CertManagerTlsSpec;
}

export interface TlsSpec {
  /** The Secret with the certificate that members use for each other. Default: <cluster>-peer-tls with managed, else <cluster>-peer-cert. */
  readonly peerSecret?: string;
  /** The Secret with the certificate that members present to clients. Default: <cluster>-server-tls with managed, else <cluster>-server-cert. */
  readonly serverSecret?: string;
  /** The Secret with a client certificate (ca.crt, tls.crt, tls.key): for clients, and without rootSecret and backupSecret for the reconciler and for backups too. Default: <cluster>-client-tls with managed, else <cluster>-client-cert. */
  readonly clientSecret?: string;
  /** The Secret with a client certificate whose common name is root, for the reconciler and the members. Users of etcd need it. Default: <cluster>-root-tls with managed, <cluster>-root-cert with certManager, and none if clientSecret is given. */
  readonly rootSecret?: string;
  /** The Secret with a client certificate whose common name is <cluster>-backup, for backups. Default: as that of rootSecret. */
  readonly backupSecret?: string;
  /** Lets the reconciler issue the certificates. The Secrets must exist: the reconciler only fills them. */
  readonly managed?: ManagedTlsSpec;
  /** Lets cert-manager issue the certificates: its Certificates are objects of the cluster, and write the Secrets. */
  readonly certManager?: CertManagerTlsSpec;
  /** Switches TLS off. The members keep their certificates until all of them speak http; then remove tls. */
  readonly disabling?: boolean;
  /** While TLS is switched on: for how long clients may use http beside https, from the first step on. Default: 24h. */
  readonly acceptPlaintextFor?: string;
  /** Another source of certificates, whose authorities the members trust too, while the cluster changes from one source to the other. */
  readonly alsoTrust?: AlsoTrustSpec;
}

export interface FilesOfSecret {
  /** The name of a Secret in this object's namespace. */
  readonly secretName: string;
  /** The keys that become files, and the names of these files. Default: every key becomes a file with the same name. */
  readonly items?: readonly {
    /** The key. */
    readonly key: string;
    /** The name of the file. */
    readonly path: string;
  }[];
}

export interface FilesOfObject {
  /** The name of a Secret in this object's namespace. */
  readonly secretName?: string;
  /** The name of a ConfigMap in this object's namespace. */
  readonly configMapName?: string;
  /** The keys that become files, and the names of these files. Default: every key becomes a file with the same name. */
  readonly items?: readonly {
    /** The key. */
    readonly key: string;
    /** The name of the file. */
    readonly path: string;
  }[];
}

export interface S3StoreSpec {
  /** The name of the bucket. */
  readonly bucket: string;
  /** The folder within the bucket, such as etcd/eu. Default: the root. */
  readonly prefix?: string;
  /** The region of the bucket. */
  readonly region?: string;
  /** The URL of a server other than AWS. Without a scheme, https is used. */
  readonly endpoint?: string;
  /** Puts the name of the bucket into the path of the URL. Default: true with an endpoint, false on AWS. */
  readonly pathStyle?: boolean;
  /** The profile in the AWS shared files. Default: default. */
  readonly profile?: string;
  /** How the server encrypts the objects. Default: the bucket's own setting. */
  readonly serverSideEncryption?: 'AES256' | 'aws:kms';
  /** The id of the key for aws:kms. Default: the bucket's key, or the key that the server manages. */
  readonly kmsKeyId?: string;
  /** The file `key` with the 32 bytes for SSE-C. The server encrypts with this key and does not keep it. */
  readonly sseCustomerKey?: FilesOfSecret;
  /** The file `ca.crt` with the authorities that signed the certificate of the server. Default: public authorities. */
  readonly ca?: FilesOfObject;
  /** The access key, under one of the names that docs/backups/stores.md lists. Default: the workload identity of the ServiceAccount. */
  readonly credentials?: FilesOfSecret;
}

export interface OssStoreSpec {
  /** The name of the bucket. */
  readonly bucket: string;
  /** The folder within the bucket, such as etcd/eu. Default: the root. */
  readonly prefix?: string;
  /** The region of the bucket, such as eu-central-1. Default: the region of the endpoint, else cn-hangzhou. */
  readonly region?: string;
  /** The host of OSS, such as oss-eu-central-1-internal.aliyuncs.com. Default: the public endpoint of the region. */
  readonly endpoint?: string;
  /** The file `ca.crt` with the authorities that signed the certificate of the server. Default: public authorities. */
  readonly ca?: FilesOfObject;
  /** The files `accessKeyID` and `accessKeySecret`. */
  readonly credentials: FilesOfSecret;
}

export interface SftpStoreSpec {
  /** The host name or IP address of the server. */
  readonly host: string;
  /** The port of the server. Default: 22. */
  readonly port?: number;
  /** The user to log in as. Default: `username` from the credentials. */
  readonly username?: string;
  /** The directory, which is created if it does not exist. A path without a leading slash is relative to the login directory. */
  readonly path?: string;
  /** The host key of the server: its fingerprint or its public key. Default: `knownHosts` from the credentials. */
  readonly hostKey?: string;
  /** Allows algorithms with SHA-1 for an old server. Default: false. */
  readonly legacyAlgorithms?: boolean;
  /** The files `username`, `password` or `privateKey` (with `passphrase`), and `knownHosts`. */
  readonly credentials: FilesOfSecret;
}

export interface FilesystemStoreSpec {
  /** A PersistentVolumeClaim in this namespace. */
  readonly persistentVolumeClaim?: {
    /** The name of the PersistentVolumeClaim. */
    readonly claimName: string;
  };
  /** An NFS export. Namespaces that enforce the restricted Pod Security Standard refuse it. */
  readonly nfs?: {
    /** The host name or IP address of the server. */
    readonly server: string;
    /** The exported path. */
    readonly path: string;
  };
  /** The folder within the volume, which is created if it does not exist. Default: the root. */
  readonly directory?: string;
}

export interface CommandStoreSpec {
  /** The directory in the image with the executables. */
  readonly path: string;
  /** The environment variables of the executables. Do not put secrets here: everyone who can read this object can read them. */
  readonly env?: Readonly<Record<string, string>>;
  /** The longest time in which an executable may neither read, nor write, nor end. Default: 60s. */
  readonly idleTimeout?: string;
  /** Files in the directory whose path is in the environment variable CREDENTIALS_DIRECTORY. */
  readonly credentials?: FilesOfSecret;
}

export interface BackupStoreSpec {
  /** A bucket in AWS S3, Ceph RGW, MinIO or another server with the S3 API. The bucket must exist. */
  readonly s3?: S3StoreSpec;
  /** A bucket in Alibaba Cloud OSS, used through its S3-compatible endpoint. The bucket must exist. */
  readonly oss?: OssStoreSpec;
  /** A directory on an SFTP server. */
  readonly sftp?: SftpStoreSpec;
  /** A volume. */
  readonly filesystem?: FilesystemStoreSpec;
  /** Your own executables, one per operation, in your own image (docs/backups/command-store.md). */
  readonly command?: CommandStoreSpec;
}

export interface RestoreSourceSpec {
  /** The name of a completed EtcdBackup in this namespace. */
  readonly backupName?: string;
  /** The store with the snapshot. Requires one of snapshotId, key and latestVerifiedBefore. */
  readonly store?: BackupStoreSpec;
  /** The name under which the backups were stored. Default: the name of the cluster that is restored. */
  readonly clusterName?: string;
  /** The namespace in which the backups were taken. Default: the namespace of the cluster that is restored. */
  readonly clusterNamespace?: string;
  /** The id of the snapshot, as `etcd-agent list` prints it. */
  readonly snapshotId?: string;
  /** The key of the snapshot or of a copy of it in the store, without its prefix. */
  readonly key?: string;
  /** Selects the newest verified snapshot that was taken before this time. */
  readonly latestVerifiedBefore?: string;
}

export interface ResourceAmounts {
  /** CPU, in cores or thousandths of a core. */
  readonly cpu?: string;
  /** Memory. */
  readonly memory?: string;
}

export interface ResourcesSpec {
  /** What the node reserves. */
  readonly requests?: ResourceAmounts;
  /** What the pod may use. */
  readonly limits?: ResourceAmounts;
}

export interface NetworkPeerSpec {
  /** The labels of the pods. {} means every pod. */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** The namespace of the pods. Default: that of the cluster, unless namespaceLabels is given. */
  readonly namespace?: string;
  /** The labels of the namespaces of the pods. {} means every namespace. */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /** A range of addresses, such as 10.0.0.0/8, for what is not a pod. */
  readonly cidr?: string;
}

export interface NetworkAccessSpec {
  /** Every client that can reach the pods. It can only be true. */
  readonly anywhere?: true;
  /** The clients that may connect. An empty list means nobody. */
  readonly peers?: readonly NetworkPeerSpec[];
}

export interface NetworkDestinationSpec {
  /** The labels of the pods. {} means every pod. */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** The namespace of the pods. Default: that of the cluster, unless namespaceLabels is given. */
  readonly namespace?: string;
  /** The labels of the namespaces of the pods. {} means every namespace. */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /** A range of addresses, such as 10.0.0.0/8, for what is not a pod. */
  readonly cidr?: string;
  /** The TCP ports. Default: every port of every protocol. */
  readonly ports?: readonly number[];
}

export interface NetworkEgressSpec {
  /** The API servers: the addresses and ports in `kubectl get endpoints kubernetes`. */
  readonly apiServer: readonly NetworkDestinationSpec[];
  /** The DNS servers. Default: the pods k8s-app: kube-dns in the namespace kube-system, port 53. */
  readonly dns?: readonly NetworkDestinationSpec[];
  /** The backup stores, and what they need, such as a proxy. Default: none. */
  readonly stores?: readonly NetworkDestinationSpec[];
}

export interface TolerationSpec {
  /** The key of the taint. Without it, operator must be Exists. */
  readonly key?: string;
  /** How the value of the taint is compared. Default: Equal. */
  readonly operator?: 'Exists' | 'Equal';
  /** The value of the taint, for Equal. */
  readonly value?: string;
  /** The effect of the taint. Default: every effect. */
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  /** The number of seconds that the pod stays on the node, for NoExecute. Zero and less: none. Default: without limit. */
  readonly tolerationSeconds?: number;
}

export interface ProbeTimesSpec {
  /** How long the first probe waits. */
  readonly initialDelaySeconds?: number;
  /** The time between two probes. */
  readonly periodSeconds?: number;
  /** How long a probe may take. */
  readonly timeoutSeconds?: number;
  /** After how many failures in a row it counts. */
  readonly failureThreshold?: number;
}

export interface EtcdContainerSpec {
  /** Further variables. */
  readonly env?: readonly Readonly<Record<string, unknown>>[];
  /** ConfigMaps and Secrets whose keys become variables. No key may begin with ETCD_. */
  readonly envFrom?: readonly Readonly<Record<string, unknown>>[];
  /** Replaces the security context of the container, which has a read-only root file system and no capabilities. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** Further mounts. */
  readonly volumeMounts?: readonly Readonly<Record<string, unknown>>[];
  /** The times of its startup probe. What is missing has its default. */
  readonly startupProbe?: ProbeTimesSpec;
  /** The times of its liveness probe. What is missing has its default. */
  readonly livenessProbe?: ProbeTimesSpec;
}

export interface AgentContainerSpec {
  /** Further variables. */
  readonly env?: readonly Readonly<Record<string, unknown>>[];
  /** ConfigMaps and Secrets whose keys become variables. No key may begin with ETCD_. */
  readonly envFrom?: readonly Readonly<Record<string, unknown>>[];
  /** Replaces the security context of the container, which has a read-only root file system and no capabilities. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** Further mounts. */
  readonly volumeMounts?: readonly Readonly<Record<string, unknown>>[];
  /** The times of its liveness probe. What is missing has its default. */
  readonly livenessProbe?: ProbeTimesSpec;
  /** The times of its readiness probe. What is missing has its default. */
  readonly readinessProbe?: ProbeTimesSpec;
  /** Its CPU and memory. A request stands for a missing limit of memory, and a limit for a missing request. Default: requests of 10m and 32Mi, and a limit of 128Mi. */
  readonly resources?: ResourcesSpec;
}

export interface GateContainerSpec {
  /** Further variables. */
  readonly env?: readonly Readonly<Record<string, unknown>>[];
  /** ConfigMaps and Secrets whose keys become variables. No key may begin with ETCD_. */
  readonly envFrom?: readonly Readonly<Record<string, unknown>>[];
  /** Replaces the security context of the container, which has a read-only root file system and no capabilities. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** Further mounts. */
  readonly volumeMounts?: readonly Readonly<Record<string, unknown>>[];
  /** Its CPU and memory. It also restores, which needs as much memory as etcd. Default: the requests of the agent, and the limit of memory of etcd. */
  readonly resources?: ResourcesSpec;
}

export interface ServiceSpec {
  /** Its type. Default: ClusterIP. */
  readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  /** Further labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Further annotations, such as those of a cloud or of external-dns. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The class of the load balancer. It cannot be changed later. */
  readonly loadBalancerClass?: string;
  /** The addresses of clients that the load balancer lets through. Default: all. */
  readonly loadBalancerSourceRanges?: readonly string[];
  /** Whether traffic from outside may reach the member by way of another node. Default: Cluster. */
  readonly externalTrafficPolicy?: 'Cluster' | 'Local';
  /** Whether traffic from a pod may reach a member on another node. Default: Cluster. */
  readonly internalTrafficPolicy?: 'Cluster' | 'Local';
  /** The port on each node, one of those that Kubernetes has for this. */
  readonly nodePort?: number;
}

export interface ExternalServicesSpec {
  /** Their type. */
  readonly type: 'NodePort' | 'LoadBalancer';
  /** Further labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Further annotations, such as those of a cloud or of external-dns. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The class of the load balancer. It cannot be changed later. */
  readonly loadBalancerClass?: string;
  /** The addresses of clients that the load balancer lets through. Default: all. */
  readonly loadBalancerSourceRanges?: readonly string[];
  /** Whether traffic from outside may reach the member by way of another node. Default: Cluster. */
  readonly externalTrafficPolicy?: 'Cluster' | 'Local';
  /** What the Services of single members have besides. */
  readonly members?: readonly {
    /** The ordinal of its member. */
    readonly ordinal: number;
    /** Its annotations. */
    readonly annotations?: Readonly<Record<string, string>>;
    /** The port on each node, one of those that Kubernetes has for this. */
    readonly nodePort?: number;
  }[];
}

export interface OverrideSpec {
  /** The objects. */
  readonly target:
    | 'MemberPods'
    | 'BackupPods'
    | 'Claims'
    | 'StatefulSet'
    | 'Services'
    | 'ClientService'
    | 'MemberServices'
    | 'PeerService'
    | 'PodDisruptionBudget'
    | 'ServiceAccounts'
    | 'CronJobs';
  /** The fields to change, as in a strategic merge patch of Kubernetes. Write $patch: delete for a field or an item to delete. */
  readonly patch: Readonly<Record<string, unknown>>;
}

export interface BackupRetentionSpec {
  /** Keeps this number of newest backups. */
  readonly last?: number;
  /** Keeps all backups that were taken within this time before the newest one, such as 30d. */
  readonly within?: string;
  /** Keeps the newest backup of each hour, for this number of hours that have backups. */
  readonly hourly?: number;
  /** Keeps the newest backup of each day, for this number of days that have backups. */
  readonly daily?: number;
  /** Keeps the newest backup of each week, for this number of weeks that have backups. */
  readonly weekly?: number;
  /** Keeps the newest backup of each month, for this number of months that have backups. */
  readonly monthly?: number;
  /** Keeps the newest backup of each year, for this number of years that have backups. */
  readonly yearly?: number;
  /** The smallest number of backups to keep. Default: 3, or `last` if it is the only rule and smaller than 3. */
  readonly minKeep?: number;
  /** The time zone in which hours, days, weeks, months and years begin. Default: UTC. */
  readonly timeZone?: string;
}

export interface ScheduledStoreSpec {
  /** A bucket in AWS S3, Ceph RGW, MinIO or another server with the S3 API. The bucket must exist. */
  readonly s3?: S3StoreSpec;
  /** A bucket in Alibaba Cloud OSS, used through its S3-compatible endpoint. The bucket must exist. */
  readonly oss?: OssStoreSpec;
  /** A directory on an SFTP server. */
  readonly sftp?: SftpStoreSpec;
  /** A volume. */
  readonly filesystem?: FilesystemStoreSpec;
  /** Your own executables, one per operation, in your own image (docs/backups/command-store.md). */
  readonly command?: CommandStoreSpec;
  /** The backups to keep. A backup is kept if at least one rule selects it. Default: all backups. */
  readonly retention?: BackupRetentionSpec;
}

export interface EncryptionSpec {
  /** Encrypts with age. Only the secret key of a recipient can decrypt the snapshot. */
  readonly age: {
    /** The public keys, age1…. */
    readonly recipients: readonly string[];
  };
}

export interface ContainerSpec {
  /** Further variables. */
  readonly env?: readonly Readonly<Record<string, unknown>>[];
  /** ConfigMaps and Secrets whose keys become variables. No key may begin with ETCD_. */
  readonly envFrom?: readonly Readonly<Record<string, unknown>>[];
  /** Replaces the security context of the container, which has a read-only root file system and no capabilities. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** Further mounts. */
  readonly volumeMounts?: readonly Readonly<Record<string, unknown>>[];
}

export interface BackupOverrideSpec {
  /** The objects. */
  readonly target: 'BackupPods' | 'CronJobs' | 'ServiceAccounts';
  /** The fields to change, as in a strategic merge patch of Kubernetes. Write $patch: delete for a field or an item to delete. */
  readonly patch: Readonly<Record<string, unknown>>;
}

export interface BackupScheduleSpec {
  /** The name of the schedule. */
  readonly name: string;
  /** The name of its CronJob. Default: <cluster>-<name>. */
  readonly cronJobName?: string;
  /** The schedule in the format of a CronJob: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  /** The time zone of cron. Default: the time zone of the controller manager, usually UTC. */
  readonly timeZone?: string;
  /** The stores for the backups. Each store has its own retention. */
  readonly stores: readonly ScheduledStoreSpec[];
  /** The compression of the snapshot. Default: zstd. */
  readonly compression?: 'none' | 'gzip' | 'zstd';
  /** Encrypts the snapshot before it is stored. */
  readonly encryption?: EncryptionSpec;
  /** How thoroughly a backup is verified before it counts as good. Default: read. */
  readonly verify?: 'stream' | 'read' | 'open';
  /** How long to wait for a connection to a member. Default: 5s. */
  readonly dialTimeout?: string;
  /** The time after which the agent aborts an attempt. Default: depends on the size of the database. */
  readonly timeout?: string;
  /** The pattern of the names of copies of the snapshots, such as orders-%Y%m%d-%H%M%S. Default: no copies. */
  readonly fileName?: string;
  /** The time zone of fileName. Default: UTC. */
  readonly fileNameTimeZone?: string;
  /** Suspends the schedule. A run can still be started by hand. Default: false. */
  readonly suspend?: boolean;
  /** How late a run may start, more than 10s, before it is skipped. Default: 1h. */
  readonly startingDeadline?: string;
  /** The time after which Kubernetes ends a run, with its retries. Default: 6h. */
  readonly activeDeadline?: string;
  /** How often a failed run is retried. Default: 3. */
  readonly retries?: number;
  /** How many finished Jobs are kept, at least one, whose result the reconciler reads. Default: 3. */
  readonly successfulJobsHistoryLimit?: number;
  /** How many failed Jobs are kept, at least one. Default: 3. */
  readonly failedJobsHistoryLimit?: number;
  /** An existing ServiceAccount, also for the other Jobs that use this schedule. Default: a ServiceAccount without permissions that is created with the CronJob, and has its name. */
  readonly serviceAccountName?: string;
  /** The image of the Job. For a `command` store it must contain the executables and the agent. Default: the agent's image. */
  readonly image?: string;
  /** The CPU and memory of the Job. A request stands for a missing limit of memory, and a limit for a missing request. Default: see docs/operations/sizing.md. */
  readonly resources?: ResourcesSpec;
  /** The annotations of the ServiceAccount that is created, for a workload identity. */
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
  /** When a node pulls the images. */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** The Secrets with registry credentials. */
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  /** The labels that a node must have. Default: any node. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** The taints that the pods tolerate. */
  readonly tolerations?: readonly TolerationSpec[];
  /** The PriorityClass of the pods. */
  readonly priorityClassName?: string;
  /** The affinity of the pods. */
  readonly affinity?: Readonly<Record<string, unknown>>;
  /** Further constraints for spreading the pods. */
  readonly topologySpreadConstraints?: readonly Readonly<Record<string, unknown>>[];
  /** The scheduler of the pods. Default: that of Kubernetes. */
  readonly schedulerName?: string;
  /** The RuntimeClass of the pods. */
  readonly runtimeClassName?: string;
  /** Further lines of /etc/hosts. */
  readonly hostAliases?: readonly Readonly<Record<string, unknown>>[];
  /** How the pods resolve names. Default: that of Kubernetes. */
  readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';
  /** Further settings of DNS. */
  readonly dnsConfig?: Readonly<Record<string, unknown>>;
  /** Replaces the security context of the pods, which is that of the restricted Pod Security Standard with the user, group and fsGroup 65532. For OpenShift, which chooses these: runAsNonRoot: true and seccompProfile. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** How many seconds a pod has to end. Default: 60. */
  readonly terminationGracePeriodSeconds?: number;
  /** Further volumes of the pods. */
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
  /** Further init containers, which run before all others. One with restartPolicy: Always runs beside them. */
  readonly initContainers?: readonly Readonly<Record<string, unknown>>[];
  /** The container of the agent. */
  readonly container?: ContainerSpec;
  /** Further annotations of every object, but not of pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Further labels of the pods. */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** Further annotations of the pods. */
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** Further labels of the objects and pods of the schedule. */
  readonly labels?: Readonly<Record<string, string>>;
  /** After how many seconds a Job that has ended is deleted. Default: the limits of the history, and a week for the other Jobs that use this schedule. */
  readonly ttlSecondsAfterFinished?: number;
  /** Changes of objects that no other field makes, one after the other: see docs/clusters/configure-a-cluster.md. */
  readonly overrides?: readonly BackupOverrideSpec[];
}

export interface ClusterMonitoringSpec {
  /** How Prometheus finds what it scrapes. */
  readonly scrape?: {
    /** ServiceMonitors: those of the Prometheus operator. Annotations: prometheus.io/scrape and others, on Services of their own. None: something else configures Prometheus, which may still connect. Default: ServiceMonitors. */
    readonly method?: 'ServiceMonitors' | 'Annotations' | 'None';
    /** The time between two scrapes of a ServiceMonitor. Default: that of Prometheus. */
    readonly interval?: string;
    /** Scrapes etcd over https on the port for clients, with the client certificate of the cluster, instead of over http on port 2381. Default: false. */
    readonly tls?: boolean;
  };
  /** The pods of Prometheus, which may connect to the metrics. Default: every pod with the label app.kubernetes.io/name: prometheus, in any namespace. */
  readonly scraper?: NetworkAccessSpec;
  /** The alerts: a PrometheusRule, or without ServiceMonitors a ConfigMap with a file of rules. */
  readonly alerts?: {
    /** False: no alerts. Default: true. */
    readonly enabled?: boolean;
    /** The names of alerts to leave out, such as EtcdSpecRefused. */
    readonly exclude?: readonly string[];
    /** Further labels of every alert. */
    readonly labels?: Readonly<Record<string, string>>;
    /** The URL of the folder with the pages runbook.md and alerts.md. Default: that of this library on GitHub. */
    readonly runbookUrl?: string;
  };
  /** The dashboard for Grafana: a ConfigMap. */
  readonly dashboard?: {
    /** False: no dashboard. Default: true. */
    readonly enabled?: boolean;
    /** The labels by which the sidecar of Grafana finds it. Default: grafana_dashboard with the value 1. */
    readonly labels?: Readonly<Record<string, string>>;
    /** Annotations, such as grafana_folder: etcd. */
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** Further labels of these objects, by which Prometheus selects them, such as release: kube-prometheus-stack. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface EtcdClusterSpec {
  /** The number of voting members. @default 3 */
  readonly size?: number;
  /** Allows an even size. @default false */
  readonly allowEvenSize?: boolean;
  /** The version of etcd. If image is given, it must be the version in it. */
  readonly version: string;
  /** The image of etcd. Default: the image of the etcd project with the tag of version. */
  readonly image?: string;
  /** A registry that mirrors the default images. It replaces gcr.io and ghcr.io. */
  readonly registry?: string;
  /** The image of the agent in the pods of members. Default: the images of the release. */
  readonly agentImage?: string;
  /** When a node pulls the images. Default: IfNotPresent. */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** The Secrets with registry credentials. */
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  /** Pauses the reconciler: it only observes and reports. @default false */
  readonly paused?: boolean;
  /** The reconciler of this cluster, whose ServiceAccount gets the rights for it. */
  readonly reconciler?: {
    /** Its ServiceAccount. Default: etcd-reconciler. */
    readonly serviceAccountName?: string;
    /** Its name, by which alerts find it. Default: serviceAccountName. */
    readonly name?: string;
  };
  /** TLS for clients and between members. Without it, both use plain http. It can be added later. To remove it, first set disabling. Without managed and certManager, something else writes the Secrets. */
  readonly tls?: TlsSpec;
  /** The DNS domain of the Kubernetes cluster. Default: cluster.local. */
  readonly clusterDomain?: string;
  /** Switches etcd's authentication on or off. Missing: it is switched on with the first EtcdUser, and then stays on. */
  readonly auth?: boolean;
  /** The rules for replacing members. */
  readonly replace?: {
    /** When a member is replaced. OnVolumeLoss: when its pod starts with an empty volume. Manual: only if it is in force. @default OnVolumeLoss */
    readonly policy?: 'OnVolumeLoss' | 'Manual';
    /** The members to replace now. A member that no longer exists is ignored. */
    readonly force?: readonly {
      /** The ordinal of its pod. */
      readonly ordinal: number;
      /** Its member id, so that its successor is not replaced too. */
      readonly memberId: string;
      /** Also deletes its PersistentVolumeClaim. Use it for a volume that was lost with its node. @default false */
      readonly discardVolume?: boolean;
    }[];
  };
  /** Starts this cluster with the data of a backup. It is used only once, when the cluster is created. Then only resources, image and serviceAccountName can be changed, for a Job that does not work. */
  readonly origin?: {
    /** The snapshot to restore: the snapshot of an EtcdBackup (backupName), or a snapshot in a store. */
    readonly source: RestoreSourceSpec;
    /** A Secret whose files are age identities. Required for an encrypted snapshot. */
    readonly identitySecret?: string;
    /** The expected SHA-256 of the decrypted and decompressed snapshot. */
    readonly sha256?: string;
    /** The expected revision of the snapshot. */
    readonly expectedRevision?: number;
    /** The ServiceAccount of the Job, for a store with workload identity. Default: a ServiceAccount without permissions. */
    readonly serviceAccountName?: string;
    /** The image of the Job. For a `command` store it must contain the executables and the agent. Default: the agent's image. */
    readonly image?: string;
    /** The CPU and memory of the Job. A request stands for a missing limit of memory, and a limit for a missing request. Default: see docs/operations/sizing.md. */
    readonly resources?: ResourcesSpec;
  };
  /** Continues from a surviving member after most members have been lost permanently. It happens once per id. */
  readonly recovery?: {
    /** A name of your choice. Another recovery needs another name. */
    readonly id: string;
    /** The recovery to perform. @default RestoreFromSurvivor */
    readonly action?: 'RestoreFromSurvivor';
    /** Writes that the survivor does not have are lost: set it to true to accept that. */
    readonly acceptDataLoss: boolean;
    /** The ordinal of the survivor. Default: the member with the most data. */
    readonly survivor?: number;
    /** A Secret whose files are age identities. Required if the schedule encrypts. */
    readonly identitySecret?: string;
  };
  /** The volume of each member. */
  readonly storage?: {
    /** The size of the volume, at least 2Gi. It cannot be changed, unless the volume is ephemeral. */
    readonly size: string;
    /** The StorageClass. It cannot be changed. Default: that of the Kubernetes cluster. */
    readonly storageClassName?: string;
    /** The access mode of the claims: one. It cannot be changed. Default: ReadWriteOnce. */
    readonly accessModes?: readonly ('ReadWriteOnce' | 'ReadWriteOncePod')[];
    /** Uses an emptyDir instead of a PersistentVolumeClaim: a pod that is deleted loses its data. @default false */
    readonly ephemeral?: boolean;
    /** Further labels of the claims. They cannot be changed. */
    readonly labels?: Readonly<Record<string, string>>;
    /** Further annotations of the claims. They cannot be changed. */
    readonly annotations?: Readonly<Record<string, string>>;
    /** The labels of the volumes that a claim may use. They cannot be changed. */
    readonly selector?: Readonly<Record<string, unknown>>;
  };
  /** The largest size of the database. Above it, etcd refuses writes. The volume must hold twice the quota and 1Gi. Default: half of the volume above 1Gi, at most 8Gi. */
  readonly quota?: string;
  /** The CPU and memory of etcd. A request stands for a missing limit of memory, and a limit for a missing request. Default: requests of 250m and 1Gi, and a limit of 2Gi. */
  readonly resources?: ResourcesSpec;
  /** The timeouts, snapshots and compaction of etcd. */
  readonly tuning?: {
    /** The interval between heartbeats of the leader. Default: 100ms. */
    readonly heartbeatInterval?: string;
    /** The time without heartbeats after which members elect a leader. Default: 1s. */
    readonly electionTimeout?: string;
    /** The number of writes after which a member takes a snapshot of its log. Default: 10000. */
    readonly snapshotCount?: number;
    /** How much history etcd keeps. Default: that of 1h. */
    readonly autoCompaction?: {
      /** What retention counts. */
      readonly mode: 'periodic' | 'revision';
      /** A duration for periodic, such as 1h, a number of revisions for revision, or 0 to keep all. */
      readonly retention: string;
    };
  };
  /** Further settings of etcd, by the keys of the configuration file of this version, such as max-request-bytes: 10485760. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** How the members are spread. A field that is missing means no constraint, and {} none at all. Default: nodes DoNotSchedule and zones ScheduleAnyway. */
  readonly spread?: {
    /** What happens to a pod that would be in the zone of another member without need. */
    readonly zones?: 'DoNotSchedule' | 'ScheduleAnyway';
    /** What happens to a pod that would be on the node of another member without need. */
    readonly nodes?: 'DoNotSchedule' | 'ScheduleAnyway';
  };
  /** The clients that may connect to the members. The backups and the reconciler always may. Default: every pod of the namespace. */
  readonly networkAccess?: NetworkAccessSpec;
  /** The clients that may read the metrics of etcd and of the agent. Default: nobody. */
  readonly metricsAccess?: NetworkAccessSpec;
  /** The connections that the members and the Jobs of the cluster may open, besides those to each other. Default: all. */
  readonly egress?: NetworkEgressSpec;
  /** The labels that a node must have. Default: any node. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** The taints that the pods tolerate. */
  readonly tolerations?: readonly TolerationSpec[];
  /** The PriorityClass of the pods. */
  readonly priorityClassName?: string;
  /** The affinity of the pods. */
  readonly affinity?: Readonly<Record<string, unknown>>;
  /** Further constraints for spreading the pods. */
  readonly topologySpreadConstraints?: readonly Readonly<Record<string, unknown>>[];
  /** The scheduler of the pods. Default: that of Kubernetes. */
  readonly schedulerName?: string;
  /** The RuntimeClass of the pods. */
  readonly runtimeClassName?: string;
  /** Further lines of /etc/hosts. */
  readonly hostAliases?: readonly Readonly<Record<string, unknown>>[];
  /** How the pods resolve names. Default: that of Kubernetes. */
  readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';
  /** Further settings of DNS. */
  readonly dnsConfig?: Readonly<Record<string, unknown>>;
  /** Replaces the security context of the pods, which is that of the restricted Pod Security Standard with the user, group and fsGroup 65532. For OpenShift, which chooses these: runAsNonRoot: true and seccompProfile. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** How many seconds a pod has to end. Default: 60. */
  readonly terminationGracePeriodSeconds?: number;
  /** Further volumes of the pods. */
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
  /** Further init containers, which run before all others. One with restartPolicy: Always runs beside them. */
  readonly initContainers?: readonly Readonly<Record<string, unknown>>[];
  /** Further containers of the pods. */
  readonly sidecars?: readonly Readonly<Record<string, unknown>>[];
  /** The containers of the pods of members. */
  readonly containers?: {
    /** The container of etcd. */
    readonly etcd?: EtcdContainerSpec;
    /** The container of the agent. */
    readonly agent?: AgentContainerSpec;
    /** The container of the gate, which prepares the volume before etcd starts. */
    readonly gate?: GateContainerSpec;
  };
  /** An existing ServiceAccount of the members, which gets the rights for it. Default: one that is created, with the name of the cluster. */
  readonly serviceAccountName?: string;
  /** The annotations of the ServiceAccount that is created. */
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
  /** Further labels of every object and pod of the cluster. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Further annotations of every object, but not of pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Further labels of the pods. */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** Further annotations of the pods. */
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** How many former revisions of the StatefulSet are kept. Default: 10. */
  readonly revisionHistoryLimit?: number;
  /** The Service with the name of the cluster, which leads to all ready members. */
  readonly service?: ServiceSpec;
  /** A Service for clients outside of Kubernetes for each member: <cluster>-<ordinal>-external. The certificate of members must have their names: serverNames of tls.managed or tls.certManager. Default: none. */
  readonly externalServices?: ExternalServicesSpec;
  /** The PodDisruptionBudget of the members, which lets a drain take one member at a time. */
  readonly podDisruptionBudget?: {
    /** False: there is none, and a drain may take several members at a time. Default: true. */
    readonly enabled?: boolean;
    /** When a pod that is not ready may be evicted. Default: that of Kubernetes, IfHealthyBudget. */
    readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow';
  };
  /** Changes of objects that no other field makes, one after the other: see docs/clusters/configure-a-cluster.md. */
  readonly overrides?: readonly OverrideSpec[];
  /** Keeps every object of the cluster when it leaves the repository that Argo CD or Flux applies. Default: true, or false with storage.ephemeral. */
  readonly protect?: boolean;
  /** The policies for PersistentVolumeClaims that are no longer needed. */
  readonly pvcPolicy?: {
    /** The policy for the claim of a member that is removed because size is lowered. @default Retain */
    readonly onShrink?: 'Retain' | 'Delete';
    /** The policy for all claims when this EtcdCluster is deleted. @default Retain */
    readonly onDelete?: 'Retain' | 'Delete';
  };
  /** The backups of this cluster. Secrets appear only by name. */
  readonly backup?: {
    /** The backup schedules of this cluster. */
    readonly schedules?: readonly BackupScheduleSpec[];
    /** The schedule whose settings are used for the backup before an upgrade, the final backup, the backup before a restore, and the backup of a survivor. Default: the first schedule. */
    readonly schedule?: string;
    /** Refuses an upgrade if there is no schedule. @default false */
    readonly requiredForUpgrade?: boolean;
  };
  /** Adds what Prometheus and Grafana need to monitor the cluster: what is scraped, who may connect, alerts and a dashboard. {} has the default of each field. Default: no monitoring. */
  readonly monitoring?: ClusterMonitoringSpec;
  /** The final backup before a deletion. */
  readonly finalBackup?: {
    /** Lets a deletion wait for it. Default: true with pvcPolicy.onDelete: Delete, else false. */
    readonly required: boolean;
  };
  /** Maintenance that the reconciler performs. */
  readonly maintenance?: {
    /** The policy for a database that has reached its quota. Report: the reconciler only reports it. CompactDefragDisarm: the reconciler frees space and allows writes again. @default CompactDefragDisarm */
    readonly onNoSpace?: 'Report' | 'CompactDefragDisarm';
    /** Asks for one defragmentation, member by member, the leader last. */
    readonly defragment?: {
      /** The time of the request, from which it may begin. Only a request that is newer than the last one is carried out, and only once. If it cannot begin within an hour, it fails. */
      readonly at: string;
      /** The ordinal of the only member that is meant. Default: all members. */
      readonly ordinal?: number;
    };
    /** Asks once that a certain member becomes the leader. */
    readonly moveLeader?: {
      /** The time of the request, from which it may begin. Only a request that is newer than the last one is carried out, and only once. If it cannot begin within an hour, it fails. */
      readonly at: string;
      /** The ordinal of the member that is to lead. */
      readonly ordinal: number;
    };
  };
}

export interface OperationStep {
  /** What is done, such as restart orders-2. */
  readonly name: string;
  /** The kind of what is done, such as Restart. */
  readonly kind?: string;
  /** The time at which it began. */
  readonly startedAt: string;
  /** The time at which it ended. Missing while it is in progress. */
  readonly endedAt?: string;
}

export interface CurrentOperation {
  /** What is done: the reason of condition Progressing with which it began. */
  readonly type: string;
  /** The size or version that is its goal. */
  readonly target?: string;
  /** The time at which it began. */
  readonly startedAt: string;
  /** Its steps so far, in the order in which they began. A step that took less than a second or two may be missing. */
  readonly steps?: readonly OperationStep[];
  /** The steps that follow, as far as they are known. */
  readonly next?: readonly string[];
}

export interface LastOperation {
  /** What is done: the reason of condition Progressing with which it began. */
  readonly type: string;
  /** The size or version that is its goal. */
  readonly target?: string;
  /** The time at which it began. */
  readonly startedAt: string;
  /** Its steps so far, in the order in which they began. A step that took less than a second or two may be missing. */
  readonly steps?: readonly OperationStep[];
  /** The time at which it ended. */
  readonly endedAt?: string;
  /** Completed: its goal was reached. Failed: it ended without it. Superseded: it gave way to another operation, or was given up, for example because the spec was changed back. */
  readonly outcome?: string;
}

export interface MaintenanceOutcome {
  /** The time that the request names. */
  readonly at: string;
  /** Waiting, Running, Completed or Failed. */
  readonly phase: string;
  /** What it waits for, or what came of it. */
  readonly message: string;
  /** The newest request that was tried, while this one waits. */
  readonly last?: {
    /** The time that the request names. */
    readonly at: string;
    /** Waiting, Running, Completed or Failed. */
    readonly phase: string;
    /** What it waits for, or what came of it. */
    readonly message: string;
  };
}

export interface CertificateStatus {
  /** The name of its Secret. */
  readonly secret: string;
  /** The time at which it expires. */
  readonly notAfter: string;
  /** The time at which the reconciler renews it. */
  readonly renewAt?: string;
  /** The first 16 hex digits of the SHA-256 of the root that it chains to. */
  readonly root?: string;
  /** Of an authority: the serial numbers of the intermediates that it has revoked, in hex. They stay known here when all Secrets come back from a backup. */
  readonly revoked?: readonly string[];
}

export interface EtcdMemberStatus {
  /** The ordinal of its pod. */
  readonly ordinal: number;
  /** The name of its pod. */
  readonly pod?: string;
  /** Its member id in etcd. */
  readonly memberId?: string;
  /** Its role: Leader, Follower or Learner. */
  readonly role?: string;
  /** The version of etcd that it runs. */
  readonly version?: string;
  /** True if it answers, knows the leader and keeps up. */
  readonly healthy?: boolean;
  /** The size of its database in bytes, rounded up to a MiB. */
  readonly dbSize?: number;
  /** The share of its volume that is in use, in percent, rounded up to a multiple of 5. */
  readonly volumeUse?: number;
  /** The number of log entries by which it is behind. */
  readonly lag?: number;
  /** With TLS: the roots that its etcd trusts. It reads them only when it starts. */
  readonly loaded?: {
    /** The first 16 hex digits of the SHA-256 of the root that other members must have; of several, each, with + between them. Missing if it is unknown. */
    readonly peerRoot?: string;
    /** The same of the root that clients must have. */
    readonly clientRoot?: string;
  };
  /** The reason why it is not healthy. */
  readonly reason?: string;
}

export interface ConditionStatus {
  /** The type of the condition. */
  readonly type: string;
  /** True if the condition holds, False if it does not, Unknown if that is not known. */
  readonly status: 'True' | 'False' | 'Unknown';
  /** The time at which the status last changed. */
  readonly lastTransitionTime: string;
  /** The reason, in one word. */
  readonly reason: string;
  /** The reason in full, and what to do. */
  readonly message: string;
  /** The generation for which the condition was observed. */
  readonly observedGeneration?: number;
}

export interface EtcdClusterStatus {
  /** The generation of the spec that this status describes. */
  readonly observedGeneration?: number;
  /** The current phase, in one word. docs/operations/runbook.md lists all phases. */
  readonly phase?: string;
  /** The reason, in one word. */
  readonly reason?: string;
  /** The reason in full, and what to do. */
  readonly message?: string;
  /** The number of times that the data of the cluster started anew: 1, plus one for each restore. */
  readonly epoch?: number;
  /** The id of the cluster in etcd. */
  readonly clusterId?: string;
  /** An id that, unlike the uid of this object, survives a deletion with retained volumes. */
  readonly clusterUid?: string;
  /** The number of pods that there should be now. */
  readonly size?: number;
  /** The number of voting members that answer and whose pods are ready. */
  readonly readyVoters?: number;
  /** The number of voting members. */
  readonly voters?: number;
  /** The pod of the member that is being added. */
  readonly learner?: string;
  /** The pod of the leader. */
  readonly leader?: string;
  /** The version of the cluster. */
  readonly version?: string;
  /** The lowest version of etcd that a member runs. */
  readonly minVersion?: string;
  /** The newest good backup. */
  readonly lastBackup?: {
    /** The id of its snapshot. */
    readonly id: string;
    /** The time at which it was taken. */
    readonly at: string;
    /** The name of its schedule. */
    readonly schedule?: string;
    /** The revision at the start of the backup. Writes continue meanwhile, so the snapshot has at least this revision. */
    readonly revision?: number;
    /** The size in bytes of the decrypted and decompressed snapshot. */
    readonly sizeBytes?: number;
    /** The SHA-256 of the decrypted and decompressed snapshot. */
    readonly sha256?: string;
    /** The verification level that it passed: stream, read or open. */
    readonly verified?: string;
  };
  /** The id of the newest restore. */
  readonly lastRestoreId?: string;
  /** The operation in progress: a change of the cluster, from its beginning until the cluster is Ready again. Missing while there is none. */
  readonly operation?: CurrentOperation;
  /** The newest operation that ended. */
  readonly lastOperation?: LastOperation;
  /** What the next action of the reconciler waits for. Missing unless it has waited for 15 seconds. */
  readonly waiting?: {
    /** The rule that waits, and the first condition that does not hold yet. docs/reference/state-machine.md lists both. */
    readonly for: string;
    /** The time since when that rule waits. */
    readonly since: string;
  };
  /** What came of the newest requests of spec.maintenance. */
  readonly maintenance?: {
    /** Its newest defragmentation. */
    readonly defragment?: MaintenanceOutcome;
    /** The newest request to move the leader. */
    readonly moveLeader?: MaintenanceOutcome;
  };
  /** The reconciler that wrote this status. */
  readonly reconciler?: {
    /** The name of the Lease that it holds, in the namespace of the cluster. */
    readonly lease: string;
    /** Its version. */
    readonly version: string;
  };
  /** The time of this status. The reconciler updates it at every change, and every ten minutes without one. */
  readonly observedAt?: string;
  /** With tls.managed: the certificates that the reconciler issued. */
  readonly certificates?: readonly CertificateStatus[];
  /** The state of each member. */
  readonly members?: readonly EtcdMemberStatus[];
  /** The conditions: Available, Ready, Reconciling, Progressing, Degraded, QuorumLost, Stalled, Alarm, BackupHealthy, CertificatesReady, TransportReady, AuthReady, VersionSafe, Accepted. */
  readonly conditions?: readonly ConditionStatus[];
}

export interface JobOverrideSpec {
  /** The objects. */
  readonly target: 'BackupPods';
  /** The fields to change, as in a strategic merge patch of Kubernetes. Write $patch: delete for a field or an item to delete. */
  readonly patch: Readonly<Record<string, unknown>>;
}

export interface EtcdBackupSpec {
  /** The EtcdCluster of this namespace to back up. */
  readonly clusterName?: string;
  /** Client URLs of an existing etcd cluster to back up. */
  readonly endpoints?: readonly string[];
  /** TLS settings for endpoints. */
  readonly tls?: {
    /** `ca.crt`, and `tls.crt` with `tls.key` for a client certificate. */
    readonly files: FilesOfObject;
    /** True if the files contain a client certificate. @default true */
    readonly clientCertificate?: boolean;
  };
  /** `username` and `password` of an etcd user with the role root, for endpoints. */
  readonly auth?: FilesOfSecret;
  /** The name of a backup schedule of the cluster, whose stores, encryption and other settings apply. */
  readonly schedule?: string;
  /** The store for the snapshot. */
  readonly store?: BackupStoreSpec;
  /** The key of a copy of the snapshot in the store. It may contain {{ .Namespace }}, {{ .Name }}, {{ .UID }} and {{ .CreationTimestamp }} of this EtcdBackup. Retention keeps the newest snapshot with this key. */
  readonly key?: string;
  /** The folder in the store, instead of its prefix. The snapshot is stored in a folder below it, with the name of the cluster or, for endpoints, of this EtcdBackup. */
  readonly prefix?: string;
  /** The compression of the snapshot. Default: zstd. */
  readonly compression?: 'none' | 'gzip' | 'zstd';
  /** Encrypts the snapshot before it is stored. */
  readonly encryption?: EncryptionSpec;
  /** Timeouts of the backup. */
  readonly timeouts?: {
    /** How long to wait for a connection to a member. Default: 5s. */
    readonly dial?: string;
    /** The longest time for the whole backup. Default: 1h. */
    readonly total?: string;
  };
  /** The ServiceAccount of the Job, for a store with workload identity. Default: a ServiceAccount without permissions. */
  readonly serviceAccountName?: string;
  /** The image of the Job. For a `command` store it must contain the executables and the agent. Default: the agent's image. */
  readonly image?: string;
  /** The CPU and memory of the Job. A request stands for a missing limit of memory, and a limit for a missing request. Default: see docs/operations/sizing.md. */
  readonly resources?: ResourcesSpec;
  /** When a node pulls the images. */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** The Secrets with registry credentials. */
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  /** The labels that a node must have. Default: any node. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** The taints that the pods tolerate. */
  readonly tolerations?: readonly TolerationSpec[];
  /** The PriorityClass of the pods. */
  readonly priorityClassName?: string;
  /** The affinity of the pods. */
  readonly affinity?: Readonly<Record<string, unknown>>;
  /** Further constraints for spreading the pods. */
  readonly topologySpreadConstraints?: readonly Readonly<Record<string, unknown>>[];
  /** The scheduler of the pods. Default: that of Kubernetes. */
  readonly schedulerName?: string;
  /** The RuntimeClass of the pods. */
  readonly runtimeClassName?: string;
  /** Further lines of /etc/hosts. */
  readonly hostAliases?: readonly Readonly<Record<string, unknown>>[];
  /** How the pods resolve names. Default: that of Kubernetes. */
  readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';
  /** Further settings of DNS. */
  readonly dnsConfig?: Readonly<Record<string, unknown>>;
  /** Replaces the security context of the pods, which is that of the restricted Pod Security Standard with the user, group and fsGroup 65532. For OpenShift, which chooses these: runAsNonRoot: true and seccompProfile. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** How many seconds a pod has to end. Default: 60. */
  readonly terminationGracePeriodSeconds?: number;
  /** Further volumes of the pods. */
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
  /** Further init containers, which run before all others. One with restartPolicy: Always runs beside them. */
  readonly initContainers?: readonly Readonly<Record<string, unknown>>[];
  /** The container of the agent. */
  readonly container?: ContainerSpec;
  /** Further annotations of every object, but not of pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Further labels of the pods. */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** Further annotations of the pods. */
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** The annotations of a ServiceAccount for the Job, for a store with workload identity. The constructs and `cdk8s-etcd render` create it as `<name>-backup` for an EtcdBackup, as `<name>-restore` for an EtcdRestore. */
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
  /** Further labels of the Job and its pods. */
  readonly labels?: Readonly<Record<string, string>>;
  /** After how many seconds the Job is deleted once it has ended. Default: a week. */
  readonly ttlSecondsAfterFinished?: number;
  /** Changes of objects that no other field makes, one after the other: see docs/clusters/configure-a-cluster.md. */
  readonly overrides?: readonly JobOverrideSpec[];
}

export interface EtcdBackupStatus {
  /** The generation of the spec that this status describes. */
  readonly observedGeneration?: number;
  /** Pending, BackingUp, Completed or Failed. The last two are final: Completed means that the snapshot was stored at completionTime, not that it still exists. */
  readonly phase?: string;
  /** The reason, in one word. */
  readonly reason?: string;
  /** The reason in full, and what to do. */
  readonly message?: string;
  /** The time at which its Job was created. */
  readonly startTime?: string;
  /** The time at which it was completed or failed. */
  readonly completionTime?: string;
  /** The time at which the snapshot was taken. */
  readonly snapshotTime?: string;
  /** The cluster or the first endpoint. */
  readonly source?: string;
  /** The id of the snapshot. Retention may have deleted it since: see snapshotDeletedAt. */
  readonly snapshotId?: string;
  /** The time at which a later run deleted the snapshot in its first store. Not known of other deletions. */
  readonly snapshotDeletedAt?: string;
  /** The snapshots that the retention of this run deleted in its first store: the first 64. */
  readonly deletedSnapshots?: readonly string[];
  /** The key of the object. */
  readonly key?: string;
  /** The revision at the start of the backup. Writes continue meanwhile, so the snapshot has at least this revision. */
  readonly revision?: number;
  /** The size in bytes of the decrypted and decompressed snapshot. */
  readonly sizeBytes?: number;
  /** The SHA-256 of the decrypted and decompressed snapshot. */
  readonly sha256?: string;
  /** The verification level that it passed: stream, read or open. */
  readonly verified?: string;
  /** The name of its Job. */
  readonly jobName?: string;
  /** The conditions: Completed, Failed, Ready, Reconciling, Stalled. */
  readonly conditions?: readonly ConditionStatus[];
}

export interface EtcdRestoreSpec {
  /** The EtcdCluster of this namespace whose data is replaced. */
  readonly clusterName: string;
  /** The snapshot to restore: the snapshot of an EtcdBackup (backupName), or a snapshot in a store. */
  readonly source: RestoreSourceSpec;
  /** A Secret whose files are age identities. Required for an encrypted snapshot. */
  readonly identitySecret?: string;
  /** The expected SHA-256 of the decrypted and decompressed snapshot. */
  readonly sha256?: string;
  /** The expected revision of the snapshot. */
  readonly expectedRevision?: number;
  /** The ServiceAccount of the Job, for a store with workload identity. Default: a ServiceAccount without permissions. */
  readonly serviceAccountName?: string;
  /** The image of the Job. For a `command` store it must contain the executables and the agent. Default: the agent's image. */
  readonly image?: string;
  /** The CPU and memory of the Job. A request stands for a missing limit of memory, and a limit for a missing request. Default: see docs/operations/sizing.md. */
  readonly resources?: ResourcesSpec;
  /** When a node pulls the images. */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** The Secrets with registry credentials. */
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  /** The labels that a node must have. Default: any node. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** The taints that the pods tolerate. */
  readonly tolerations?: readonly TolerationSpec[];
  /** The PriorityClass of the pods. */
  readonly priorityClassName?: string;
  /** The affinity of the pods. */
  readonly affinity?: Readonly<Record<string, unknown>>;
  /** Further constraints for spreading the pods. */
  readonly topologySpreadConstraints?: readonly Readonly<Record<string, unknown>>[];
  /** The scheduler of the pods. Default: that of Kubernetes. */
  readonly schedulerName?: string;
  /** The RuntimeClass of the pods. */
  readonly runtimeClassName?: string;
  /** Further lines of /etc/hosts. */
  readonly hostAliases?: readonly Readonly<Record<string, unknown>>[];
  /** How the pods resolve names. Default: that of Kubernetes. */
  readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';
  /** Further settings of DNS. */
  readonly dnsConfig?: Readonly<Record<string, unknown>>;
  /** Replaces the security context of the pods, which is that of the restricted Pod Security Standard with the user, group and fsGroup 65532. For OpenShift, which chooses these: runAsNonRoot: true and seccompProfile. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** How many seconds a pod has to end. Default: 60. */
  readonly terminationGracePeriodSeconds?: number;
  /** Further volumes of the pods. */
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
  /** Further init containers, which run before all others. One with restartPolicy: Always runs beside them. */
  readonly initContainers?: readonly Readonly<Record<string, unknown>>[];
  /** The container of the agent. */
  readonly container?: ContainerSpec;
  /** Further annotations of every object, but not of pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Further labels of the pods. */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** Further annotations of the pods. */
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** The annotations of a ServiceAccount for the Job, for a store with workload identity. The constructs and `cdk8s-etcd render` create it as `<name>-backup` for an EtcdBackup, as `<name>-restore` for an EtcdRestore. */
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
  /** Further labels of the Job and its pods. */
  readonly labels?: Readonly<Record<string, string>>;
  /** After how many seconds the Job is deleted once it has ended. Default: a week. */
  readonly ttlSecondsAfterFinished?: number;
  /** Changes of objects that no other field makes, one after the other: see docs/clusters/configure-a-cluster.md. */
  readonly overrides?: readonly JobOverrideSpec[];
  /** Takes a backup first, with the settings of the backup schedule of the cluster. What clients write after it was begun is in no backup. @default true */
  readonly safetyBackup?: boolean;
  /** Continues even if it cannot be confirmed that a pod on an unreachable node has stopped. If that node is still running, clients that reach only its pod keep writing to the old data. @default false */
  readonly ignoreUnreachablePods?: boolean;
  /** Any text, such as the date. A restore of which an earlier one, under another name, had the same spec is refused, because it was probably renamed. Set another text to restore the same backup once more. */
  readonly again?: string;
}

export interface EtcdRestoreStatus {
  /** The generation of the spec that this status describes. */
  readonly observedGeneration?: number;
  /** Pending, Verifying, BackingUp, Fencing, Draining, Restoring, Regrowing, Completed or Failed. */
  readonly phase?: string;
  /** The reason, in one word. */
  readonly reason?: string;
  /** The reason in full, and what to do. */
  readonly message?: string;
  /** The time at which the restore started. */
  readonly startTime?: string;
  /** The time at which it was completed or failed. */
  readonly completionTime?: string;
  /** The time at which the download and the verification of the snapshot started. */
  readonly verifyingTime?: string;
  /** The time at which the safety backup started. */
  readonly backingUpTime?: string;
  /** The time at which the old data was fenced off. From then on the restore cannot be cancelled. */
  readonly fencingTime?: string;
  /** The time at which the old pods started to stop. */
  readonly drainingTime?: string;
  /** The time at which the first pod started to restore. */
  readonly restoringTime?: string;
  /** The time at which the other members started to join. */
  readonly regrowingTime?: string;
  /** The snapshot that is restored. */
  readonly snapshotId?: string;
  /** Snapshots that are newer than the restored one, and why they were not used. */
  readonly passedOver?: string;
  /** The id of the snapshot of the replaced data. */
  readonly safetyBackupId?: string;
  /** The time at which the retention of a backup deleted that snapshot. */
  readonly safetyBackupDeletedAt?: string;
  /** The conditions: Completed, Failed, Ready, Reconciling, Stalled. */
  readonly conditions?: readonly ConditionStatus[];
}

export interface EtcdPermissionSpec {
  /** The keys that begin with this text. */
  readonly prefix?: string;
  /** This key alone. */
  readonly key?: string;
  /** The keys of a range, in the order of their bytes. */
  readonly range?: {
    /** The first key. */
    readonly from: string;
    /** The end of the range, which does not belong to it. */
    readonly to: string;
  };
  /** Every key. It can only be true. */
  readonly all?: boolean;
  /** What the user may do with these keys. Watching a key is reading it. */
  readonly access: 'Read' | 'Write' | 'ReadWrite';
}

export interface EtcdUserSpec {
  /** The EtcdCluster of this namespace. Immutable. */
  readonly clusterName: string;
  /** The name of the user in etcd, and the common name of its certificate, if it has one. Immutable. Default: the name of this object. */
  readonly userName?: string;
  /** What the user may read and write. Without any, it may do nothing. */
  readonly permissions: readonly EtcdPermissionSpec[];
  /** With tls.managed of the cluster: the Secret that the reconciler fills with ca.crt, tls.crt and tls.key. It must exist: the reconciler only fills it. */
  readonly certificateSecret?: string;
  /** Instead of a certificate, the user has a password: the Secret that the reconciler fills with username and password, and from which it takes the password. It must exist: the reconciler only fills it. A password that is there already is used as it is. The client also needs a certificate that the members accept, such as that in tls.clientSecret of the cluster. */
  readonly passwordSecret?: string;
}

export interface EtcdUserStatus {
  /** The generation of the spec that this status describes. */
  readonly observedGeneration?: number;
  /** The conditions: Ready, Reconciling, Stalled. */
  readonly conditions?: readonly ConditionStatus[];
  /** The name of the user in etcd. */
  readonly userName?: string;
  /** With certificateSecret: the certificate that the reconciler issued. Null or absent: there is none. */
  readonly certificate?: {
    /** The time at which it expires. */
    readonly notAfter: string;
    /** The time at which the reconciler renews it. */
    readonly renewAt?: string;
  } | null;
}

export interface ExistingEtcdSpec {
  /** Client URLs of one or more members. The agent finds the other members through these. */
  readonly endpoints: readonly string[];
  /** TLS settings for endpoints. */
  readonly tls?: {
    /** `ca.crt`, and `tls.crt` with `tls.key` for a client certificate. */
    readonly files: FilesOfObject;
    /** True if the files contain a client certificate. @default true */
    readonly clientCertificate?: boolean;
  };
  /** `username` and `password` of an etcd user with the role root, for endpoints. */
  readonly auth?: FilesOfSecret;
}

export interface ControlPlaneSpec {
  /** Client URLs of etcd, as seen from the nodes. Default: https://127.0.0.1:2379. */
  readonly endpoints?: readonly string[];
  /** The files on a node with which the agent verifies etcd and identifies itself. */
  readonly certificates?: {
    /** The certificate of the authority of the servers of etcd. Default: /etc/kubernetes/pki/etcd/ca.crt. */
    readonly ca?: string;
    /** The client certificate. Default: /etc/kubernetes/pki/etcd/healthcheck-client.crt. */
    readonly cert?: string;
    /** Its private key. Default: /etc/kubernetes/pki/etcd/healthcheck-client.key. */
    readonly key?: string;
  };
  /** The labels of the nodes on which etcd runs: a node with at least one of them qualifies. The pods tolerate taints with the same names. Default: node-role.kubernetes.io/control-plane. */
  readonly nodeLabels?: readonly string[];
  /** The directory with the manifests of static Pods. Default: /etc/kubernetes/manifests. */
  readonly manifestsDirectory?: string;
  /** True if etcd runs as a service of the node, and not as a static Pod. Default: false. */
  readonly etcdService?: boolean;
  /** The directory with etcd's data, for a restore. Default: /var/lib/etcd. */
  readonly dataDir?: string;
  /** The directory, readable only by root, for what a restore needs. Default: /etc/etcd-restore. */
  readonly restoreDirectory?: string;
  /** Files of the node that are stored with each snapshot, always encrypted. Each must exist on every node on which a backup runs. Default: no files. */
  readonly files?: {
    /** Directories, with all their content. Default: /etc/kubernetes/pki. */
    readonly directories?: readonly string[];
    /** Single files, such as the encryption configuration of the API server. */
    readonly files?: readonly string[];
    /** Encrypts the snapshot before it is stored. */
    readonly encryption?: EncryptionSpec;
  };
  /** Adds the namespace, with the Pod Security level privileged, which the backup needs. Default: true. */
  readonly createNamespace?: boolean;
  /** Keeps the image on every node on which etcd runs, with a DaemonSet. Default: true. */
  readonly keepImage?: boolean;
}

export interface NodeFilesystemStoreSpec {
  /** A PersistentVolumeClaim in this namespace. */
  readonly persistentVolumeClaim?: {
    /** The name of the PersistentVolumeClaim. */
    readonly claimName: string;
  };
  /** An NFS export. Namespaces that enforce the restricted Pod Security Standard refuse it. */
  readonly nfs?: {
    /** The host name or IP address of the server. */
    readonly server: string;
    /** The exported path. */
    readonly path: string;
  };
  /** The folder within the volume, which is created if it does not exist. Default: the root. */
  readonly directory?: string;
  /** A directory of the node, for the backup of a control plane. It is created if it does not exist. Each node has its own backups there, and they are lost with the node. */
  readonly hostPath?: string;
}

export interface NodeStoreSpec {
  /** A bucket in AWS S3, Ceph RGW, MinIO or another server with the S3 API. The bucket must exist. */
  readonly s3?: S3StoreSpec;
  /** A bucket in Alibaba Cloud OSS, used through its S3-compatible endpoint. The bucket must exist. */
  readonly oss?: OssStoreSpec;
  /** A directory on an SFTP server. */
  readonly sftp?: SftpStoreSpec;
  /** A volume, or a directory of the node. */
  readonly filesystem?: NodeFilesystemStoreSpec;
  /** Your own executables, one per operation, in your own image (docs/backups/command-store.md). */
  readonly command?: CommandStoreSpec;
  /** The backups to keep. A backup is kept if at least one rule selects it. Default: all backups. */
  readonly retention?: BackupRetentionSpec;
}

export interface BackupMonitoringSpec {
  /** How Prometheus finds what it scrapes. */
  readonly scrape?: {
    /** ServiceMonitors: those of the Prometheus operator. Annotations: prometheus.io/scrape and others, on Services of their own. None: something else configures Prometheus, which may still connect. Default: ServiceMonitors. */
    readonly method?: 'ServiceMonitors' | 'Annotations' | 'None';
    /** The time between two scrapes of a ServiceMonitor. Default: that of Prometheus. */
    readonly interval?: string;
  };
  /** The pods of Prometheus, which may connect to the metrics. Default: every pod with the label app.kubernetes.io/name: prometheus, in any namespace. */
  readonly scraper?: NetworkAccessSpec;
  /** The alerts: a PrometheusRule, or without ServiceMonitors a ConfigMap with a file of rules. */
  readonly alerts?: {
    /** False: no alerts. Default: true. */
    readonly enabled?: boolean;
    /** The names of alerts to leave out, such as EtcdBackupTooOld. */
    readonly exclude?: readonly string[];
    /** Further labels of every alert. */
    readonly labels?: Readonly<Record<string, string>>;
    /** The URL of the folder with the pages runbook.md and alerts.md. Default: that of this library on GitHub. */
    readonly runbookUrl?: string;
  };
  /** The dashboard for Grafana: a ConfigMap. */
  readonly dashboard?: {
    /** False: no dashboard. Default: true. */
    readonly enabled?: boolean;
    /** The labels by which the sidecar of Grafana finds it. Default: grafana_dashboard with the value 1. */
    readonly labels?: Readonly<Record<string, string>>;
    /** Annotations, such as grafana_folder: etcd. */
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** Further labels of these objects, by which Prometheus selects them, such as release: kube-prometheus-stack. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The age of the newest verified backup from which an alert fires, at least 15m, and above the longest time between two runs. Default: twice the longest time between two runs, and at least 30m. */
  readonly maxAge?: string;
  /** The CPU and memory of the exporter. Default: 100m and 100Mi, and as much again for each store. */
  readonly resources?: ResourcesSpec;
}

export interface EtcdBackupScheduleSpec {
  /** The name under which the backups are stored and found again. Two etcd clusters must not share a name within one store. */
  readonly cluster: string;
  /** An etcd cluster that something else runs. */
  readonly etcd?: ExistingEtcdSpec;
  /** The etcd of the control plane of this Kubernetes cluster. {} is that of kubeadm. The pods run on its nodes, and need a namespace of their own. */
  readonly controlPlane?: ControlPlaneSpec;
  /** The schedule in the format of a CronJob: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  /** The time zone of cron. Default: the time zone of the controller manager, usually UTC. */
  readonly timeZone?: string;
  /** The stores for the backups. Each store has its own retention. */
  readonly stores: readonly NodeStoreSpec[];
  /** The compression of the snapshot. Default: zstd. */
  readonly compression?: 'none' | 'gzip' | 'zstd';
  /** Encrypts the snapshot before it is stored. */
  readonly encryption?: EncryptionSpec;
  /** How thoroughly a backup is verified before it counts as good. Default: read. */
  readonly verify?: 'stream' | 'read' | 'open';
  /** How long to wait for a connection to a member. Default: 5s. */
  readonly dialTimeout?: string;
  /** The time after which the agent aborts an attempt. Default: depends on the size of the database. */
  readonly timeout?: string;
  /** The pattern of the names of copies of the snapshots, such as orders-%Y%m%d-%H%M%S. Default: no copies. */
  readonly fileName?: string;
  /** The time zone of fileName. Default: UTC. */
  readonly fileNameTimeZone?: string;
  /** Suspends the schedule. A run can still be started by hand. Default: false. */
  readonly suspend?: boolean;
  /** How late a run may start, more than 10s, before it is skipped. Default: 1h. */
  readonly startingDeadline?: string;
  /** The time after which Kubernetes ends a run, with its retries. Default: 6h. */
  readonly activeDeadline?: string;
  /** How often a failed run is retried. Default: 3. */
  readonly retries?: number;
  /** How many finished Jobs are kept. Default: 3. */
  readonly successfulJobsHistoryLimit?: number;
  /** How many failed Jobs are kept. Default: 3. */
  readonly failedJobsHistoryLimit?: number;
  /** An existing ServiceAccount, also for the other Jobs that use this schedule. Default: a ServiceAccount without permissions that is created with the CronJob, and has its name. */
  readonly serviceAccountName?: string;
  /** The image of the Job. For a `command` store it must contain the executables and the agent. Default: the agent's image. */
  readonly image?: string;
  /** The CPU and memory of the Job. A request stands for a missing limit of memory, and a limit for a missing request. Default: see docs/operations/sizing.md. */
  readonly resources?: ResourcesSpec;
  /** The annotations of the ServiceAccount that is created, for a workload identity. */
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
  /** When a node pulls the images. */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** The Secrets with registry credentials. */
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  /** The labels that a node must have. Default: any node. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** The taints that the pods tolerate. */
  readonly tolerations?: readonly TolerationSpec[];
  /** The PriorityClass of the pods. */
  readonly priorityClassName?: string;
  /** The affinity of the pods. */
  readonly affinity?: Readonly<Record<string, unknown>>;
  /** Further constraints for spreading the pods. */
  readonly topologySpreadConstraints?: readonly Readonly<Record<string, unknown>>[];
  /** The scheduler of the pods. Default: that of Kubernetes. */
  readonly schedulerName?: string;
  /** The RuntimeClass of the pods. */
  readonly runtimeClassName?: string;
  /** Further lines of /etc/hosts. */
  readonly hostAliases?: readonly Readonly<Record<string, unknown>>[];
  /** How the pods resolve names. Default: that of Kubernetes. */
  readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';
  /** Further settings of DNS. */
  readonly dnsConfig?: Readonly<Record<string, unknown>>;
  /** Replaces the security context of the pods, which is that of the restricted Pod Security Standard with the user, group and fsGroup 65532. For OpenShift, which chooses these: runAsNonRoot: true and seccompProfile. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** How many seconds a pod has to end. Default: 60. */
  readonly terminationGracePeriodSeconds?: number;
  /** Further volumes of the pods. */
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
  /** Further init containers, which run before all others. One with restartPolicy: Always runs beside them. */
  readonly initContainers?: readonly Readonly<Record<string, unknown>>[];
  /** The container of the agent. */
  readonly container?: ContainerSpec;
  /** Further annotations of every object, but not of pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Further labels of the pods. */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** Further annotations of the pods. */
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** Further labels of the objects and pods of the schedule. */
  readonly labels?: Readonly<Record<string, string>>;
  /** After how many seconds a Job that has ended is deleted. Default: the limits of the history. */
  readonly ttlSecondsAfterFinished?: number;
  /** Changes of objects that no other field makes, one after the other: see docs/clusters/configure-a-cluster.md. */
  readonly overrides?: readonly BackupOverrideSpec[];
  /** Adds what Prometheus and Grafana need to monitor the backups: an exporter, which reads the stores every five minutes, what scrapes it, who may connect, alerts and a dashboard. {} has the default of each field. Default: no monitoring. */
  readonly monitoring?: BackupMonitoringSpec;
}

export interface ReconcilerContainerSpec {
  /** Further variables. */
  readonly env?: readonly Readonly<Record<string, unknown>>[];
  /** ConfigMaps and Secrets whose keys become variables. No key may begin with ETCD_. */
  readonly envFrom?: readonly Readonly<Record<string, unknown>>[];
  /** Replaces the security context of the container, which has a read-only root file system and no capabilities. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** Further mounts. */
  readonly volumeMounts?: readonly Readonly<Record<string, unknown>>[];
  /** The times of its startup probe. What is missing has its default. */
  readonly startupProbe?: ProbeTimesSpec;
  /** The times of its liveness probe. What is missing has its default. */
  readonly livenessProbe?: ProbeTimesSpec;
  /** The times of its readiness probe. What is missing has its default. */
  readonly readinessProbe?: ProbeTimesSpec;
}

export interface ReconcilerOverrideSpec {
  /** The objects. */
  readonly target: 'ReconcilerPods' | 'Deployment' | 'Services' | 'ServiceAccounts';
  /** The fields to change, as in a strategic merge patch of Kubernetes. Write $patch: delete for a field or an item to delete. */
  readonly patch: Readonly<Record<string, unknown>>;
}

export interface MonitoringSpec {
  /** How Prometheus finds what it scrapes. */
  readonly scrape?: {
    /** ServiceMonitors: those of the Prometheus operator. Annotations: prometheus.io/scrape and others, on Services of their own. None: something else configures Prometheus, which may still connect. Default: ServiceMonitors. */
    readonly method?: 'ServiceMonitors' | 'Annotations' | 'None';
    /** The time between two scrapes of a ServiceMonitor. Default: that of Prometheus. */
    readonly interval?: string;
  };
  /** The pods of Prometheus, which may connect to the metrics. Default: every pod with the label app.kubernetes.io/name: prometheus, in any namespace. */
  readonly scraper?: NetworkAccessSpec;
  /** The alerts: a PrometheusRule, or without ServiceMonitors a ConfigMap with a file of rules. */
  readonly alerts?: {
    /** False: no alerts. Default: true. */
    readonly enabled?: boolean;
    /** The names of alerts to leave out, such as EtcdReconcilerNotSynced. */
    readonly exclude?: readonly string[];
    /** Further labels of every alert. */
    readonly labels?: Readonly<Record<string, string>>;
    /** The URL of the folder with the pages runbook.md and alerts.md. Default: that of this library on GitHub. */
    readonly runbookUrl?: string;
  };
  /** The dashboard for Grafana: a ConfigMap. */
  readonly dashboard?: {
    /** False: no dashboard. Default: true. */
    readonly enabled?: boolean;
    /** The labels by which the sidecar of Grafana finds it. Default: grafana_dashboard with the value 1. */
    readonly labels?: Readonly<Record<string, string>>;
    /** Annotations, such as grafana_folder: etcd. */
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** Further labels of these objects, by which Prometheus selects them, such as release: kube-prometheus-stack. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface EtcdReconcilerSpec {
  /** The image of the agent. Default: the image of the release. */
  readonly image?: string;
  /** A registry that mirrors the default images. It replaces gcr.io and ghcr.io. */
  readonly registry?: string;
  /** When a node pulls the images. */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** The Secrets with registry credentials. */
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  /** The number of pods. With 2, the second takes over when the first is lost. Default: 1. */
  readonly replicas?: number;
  /** The CPU and memory of the pod. A request stands for a missing limit of memory, and a limit for a missing request. Default: requests of 50m and 128Mi, and a limit of 256Mi of memory. */
  readonly resources?: ResourcesSpec;
  /** The labels of the EtcdClusters that it manages. Each of these must name it in spec.reconciler. Default: all of the namespace. */
  readonly selector?: Readonly<Record<string, string>>;
  /** The clients that may read its metrics. Default: nobody. */
  readonly metricsAccess?: NetworkAccessSpec;
  /** The connections that the pod may open, besides those to the members and Jobs of its namespace. stores has no effect here. Default: all. */
  readonly egress?: NetworkEgressSpec;
  /** The labels that a node must have. Default: any node. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** The taints that the pods tolerate. */
  readonly tolerations?: readonly TolerationSpec[];
  /** The PriorityClass of the pods. */
  readonly priorityClassName?: string;
  /** The affinity of the pods. */
  readonly affinity?: Readonly<Record<string, unknown>>;
  /** Further constraints for spreading the pods. */
  readonly topologySpreadConstraints?: readonly Readonly<Record<string, unknown>>[];
  /** The scheduler of the pods. Default: that of Kubernetes. */
  readonly schedulerName?: string;
  /** The RuntimeClass of the pods. */
  readonly runtimeClassName?: string;
  /** Further lines of /etc/hosts. */
  readonly hostAliases?: readonly Readonly<Record<string, unknown>>[];
  /** How the pods resolve names. Default: that of Kubernetes. */
  readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';
  /** Further settings of DNS. */
  readonly dnsConfig?: Readonly<Record<string, unknown>>;
  /** Replaces the security context of the pods, which is that of the restricted Pod Security Standard with the user, group and fsGroup 65532. For OpenShift, which chooses these: runAsNonRoot: true and seccompProfile. */
  readonly securityContext?: Readonly<Record<string, unknown>>;
  /** How many seconds a pod has to end. Default: 60. */
  readonly terminationGracePeriodSeconds?: number;
  /** Further volumes of the pods. */
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
  /** Further init containers, which run before all others. One with restartPolicy: Always runs beside them. */
  readonly initContainers?: readonly Readonly<Record<string, unknown>>[];
  /** The container of the reconciler. Its Jobs get the proxy variables of env too. */
  readonly container?: ReconcilerContainerSpec;
  /** Further containers of the pods. */
  readonly sidecars?: readonly Readonly<Record<string, unknown>>[];
  /** An existing ServiceAccount, which gets the rights that the reconciler needs. Default: one that is created, with the name of the reconciler. */
  readonly serviceAccountName?: string;
  /** The annotations of the ServiceAccount that is created. */
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
  /** Further labels of every object and of the pod. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Further annotations of every object, but not of pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Further labels of the pods. */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** Further annotations of the pods. */
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** How many former revisions of the Deployment are kept. Default: 10. */
  readonly revisionHistoryLimit?: number;
  /** Changes of objects that no other field makes, one after the other: see docs/clusters/configure-a-cluster.md. */
  readonly overrides?: readonly ReconcilerOverrideSpec[];
  /** Adds what Prometheus and Grafana need to monitor the reconciler itself: what is scraped, who may connect, alerts and a dashboard. What it does to a cluster is part of the monitoring of that cluster. {} has the default of each field. Default: no monitoring. */
  readonly monitoring?: MonitoringSpec;
}
