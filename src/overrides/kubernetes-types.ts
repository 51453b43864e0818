// Written by scripts/crds/kubernetes-shapes.mjs from the OpenAPI of Kubernetes.

/**
 * The fields of each type. After a colon is the type: of a value, or of an object, with [] that of the items of a list, and with a
 * key the field by which a strategic merge patch finds an item. An object of texts is strings.
 */
export const kubernetesTypes: Readonly<Record<string, string>> = {
  AWSElasticBlockStoreVolumeSource: 'fsType:string partition:integer readOnly:boolean volumeID:string',
  Affinity: 'nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity',
  AppArmorProfile: 'localhostProfile:string type:string',
  AzureDiskVolumeSource: 'cachingMode:string diskName:string diskURI:string fsType:string kind:string readOnly:boolean',
  AzureFileVolumeSource: 'readOnly:boolean secretName:string shareName:string',
  CSIVolumeSource:
    'driver:string fsType:string nodePublishSecretRef:LocalObjectReference readOnly:boolean volumeAttributes:strings',
  Capabilities: 'add:string[] drop:string[]',
  CephFSVolumeSource:
    'monitors:string[] path:string readOnly:boolean secretFile:string secretRef:LocalObjectReference user:string',
  CinderVolumeSource: 'fsType:string readOnly:boolean secretRef:LocalObjectReference volumeID:string',
  ClientIPConfig: 'timeoutSeconds:integer',
  ClusterTrustBundleProjection:
    'labelSelector:LabelSelector name:string optional:boolean path:string signerName:string',
  ConfigMapEnvSource: 'name:string optional:boolean',
  ConfigMapKeySelector: 'key:string name:string optional:boolean',
  ConfigMapProjection: 'items:KeyToPath[] name:string optional:boolean',
  ConfigMapVolumeSource: 'defaultMode:integer items:KeyToPath[] name:string optional:boolean',
  Container:
    'args:string[] command:string[] env:EnvVar[name] envFrom:EnvFromSource[] image:string imagePullPolicy:string lifecycle:Lifecycle livenessProbe:Probe name:string ports:ContainerPort[containerPort] readinessProbe:Probe resizePolicy:ContainerResizePolicy[] resources:ResourceRequirements restartPolicy:string restartPolicyRules:ContainerRestartRule[] securityContext:SecurityContext startupProbe:Probe stdin:boolean stdinOnce:boolean terminationMessagePath:string terminationMessagePolicy:string tty:boolean volumeDevices:VolumeDevice[devicePath] volumeMounts:VolumeMount[mountPath] workingDir:string',
  ContainerPort: 'containerPort:integer hostIP:string hostPort:integer name:string protocol:string',
  ContainerResizePolicy: 'resourceName:string restartPolicy:string',
  ContainerRestartRule: 'action:string exitCodes:ContainerRestartRuleOnExitCodes',
  ContainerRestartRuleOnExitCodes: 'operator:string values:integer[]',
  CronJob: 'apiVersion:string kind:string metadata:ObjectMeta spec:CronJobSpec',
  CronJobSpec:
    'concurrencyPolicy:string failedJobsHistoryLimit:integer jobTemplate:JobTemplateSpec schedule:string startingDeadlineSeconds:integer successfulJobsHistoryLimit:integer suspend:boolean timeZone:string',
  Deployment: 'apiVersion:string kind:string metadata:ObjectMeta spec:DeploymentSpec',
  DeploymentSpec:
    'minReadySeconds:integer paused:boolean progressDeadlineSeconds:integer replicas:integer revisionHistoryLimit:integer selector:LabelSelector strategy:DeploymentStrategy template:PodTemplateSpec',
  DeploymentStrategy: 'rollingUpdate:RollingUpdateDeployment type:string',
  DownwardAPIProjection: 'items:DownwardAPIVolumeFile[]',
  DownwardAPIVolumeFile: 'fieldRef:ObjectFieldSelector mode:integer path:string resourceFieldRef:ResourceFieldSelector',
  DownwardAPIVolumeSource: 'defaultMode:integer items:DownwardAPIVolumeFile[]',
  EmptyDirVolumeSource: 'medium:string sizeLimit',
  EnvFromSource: 'configMapRef:ConfigMapEnvSource prefix:string secretRef:SecretEnvSource',
  EnvVar: 'name:string value:string valueFrom:EnvVarSource',
  EnvVarSource:
    'configMapKeyRef:ConfigMapKeySelector fieldRef:ObjectFieldSelector fileKeyRef:FileKeySelector resourceFieldRef:ResourceFieldSelector secretKeyRef:SecretKeySelector',
  EphemeralContainer:
    'args:string[] command:string[] env:EnvVar[name] envFrom:EnvFromSource[] image:string imagePullPolicy:string lifecycle:Lifecycle livenessProbe:Probe name:string ports:ContainerPort[containerPort] readinessProbe:Probe resizePolicy:ContainerResizePolicy[] resources:ResourceRequirements restartPolicy:string restartPolicyRules:ContainerRestartRule[] securityContext:SecurityContext startupProbe:Probe stdin:boolean stdinOnce:boolean targetContainerName:string terminationMessagePath:string terminationMessagePolicy:string tty:boolean volumeDevices:VolumeDevice[devicePath] volumeMounts:VolumeMount[mountPath] workingDir:string',
  EphemeralVolumeSource: 'volumeClaimTemplate:PersistentVolumeClaimTemplate',
  ExecAction: 'command:string[]',
  FCVolumeSource: 'fsType:string lun:integer readOnly:boolean targetWWNs:string[] wwids:string[]',
  FileKeySelector: 'key:string optional:boolean path:string volumeName:string',
  FlexVolumeSource: 'driver:string fsType:string options:strings readOnly:boolean secretRef:LocalObjectReference',
  FlockerVolumeSource: 'datasetName:string datasetUUID:string',
  GCEPersistentDiskVolumeSource: 'fsType:string partition:integer pdName:string readOnly:boolean',
  GRPCAction: 'port:integer service:string',
  GitRepoVolumeSource: 'directory:string repository:string revision:string',
  GlusterfsVolumeSource: 'endpoints:string path:string readOnly:boolean',
  HTTPGetAction: 'host:string httpHeaders:HTTPHeader[] path:string port scheme:string',
  HTTPHeader: 'name:string value:string',
  HostAlias: 'hostnames:string[] ip:string',
  HostPathVolumeSource: 'path:string type:string',
  ISCSIVolumeSource:
    'chapAuthDiscovery:boolean chapAuthSession:boolean fsType:string initiatorName:string iqn:string iscsiInterface:string lun:integer portals:string[] readOnly:boolean secretRef:LocalObjectReference targetPortal:string',
  ImageVolumeSource: 'pullPolicy:string reference:string',
  JobSpec:
    'activeDeadlineSeconds:integer backoffLimit:integer backoffLimitPerIndex:integer completionMode:string completions:integer managedBy:string manualSelector:boolean maxFailedIndexes:integer parallelism:integer podFailurePolicy:PodFailurePolicy podReplacementPolicy:string selector:LabelSelector successPolicy:SuccessPolicy suspend:boolean template:PodTemplateSpec ttlSecondsAfterFinished:integer',
  JobTemplateSpec: 'metadata:ObjectMeta spec:JobSpec',
  KeyToPath: 'key:string mode:integer path:string',
  LabelSelector: 'matchExpressions:LabelSelectorRequirement[] matchLabels:strings',
  LabelSelectorRequirement: 'key:string operator:string values:string[]',
  Lifecycle: 'postStart:LifecycleHandler preStop:LifecycleHandler stopSignal:string',
  LifecycleHandler: 'exec:ExecAction httpGet:HTTPGetAction sleep:SleepAction tcpSocket:TCPSocketAction',
  LocalObjectReference: 'name:string',
  ManagedFieldsEntry:
    'apiVersion:string fieldsType:string fieldsV1 manager:string operation:string subresource:string time',
  NFSVolumeSource: 'path:string readOnly:boolean server:string',
  NodeAffinity:
    'preferredDuringSchedulingIgnoredDuringExecution:PreferredSchedulingTerm[] requiredDuringSchedulingIgnoredDuringExecution:NodeSelector',
  NodeSelector: 'nodeSelectorTerms:NodeSelectorTerm[]',
  NodeSelectorRequirement: 'key:string operator:string values:string[]',
  NodeSelectorTerm: 'matchExpressions:NodeSelectorRequirement[] matchFields:NodeSelectorRequirement[]',
  ObjectFieldSelector: 'apiVersion:string fieldPath:string',
  ObjectMeta:
    'annotations:strings creationTimestamp deletionGracePeriodSeconds:integer deletionTimestamp finalizers:string[] generateName:string generation:integer labels:strings managedFields:ManagedFieldsEntry[] name:string namespace:string ownerReferences:OwnerReference[uid] resourceVersion:string selfLink:string uid:string',
  ObjectReference:
    'apiVersion:string fieldPath:string kind:string name:string namespace:string resourceVersion:string uid:string',
  OwnerReference: 'apiVersion:string blockOwnerDeletion:boolean controller:boolean kind:string name:string uid:string',
  PersistentVolumeClaim: 'apiVersion:string kind:string metadata:ObjectMeta spec:PersistentVolumeClaimSpec',
  PersistentVolumeClaimSpec:
    'accessModes:string[] dataSource:TypedLocalObjectReference dataSourceRef:TypedObjectReference resources:VolumeResourceRequirements selector:LabelSelector storageClassName:string volumeAttributesClassName:string volumeMode:string volumeName:string',
  PersistentVolumeClaimTemplate: 'metadata:ObjectMeta spec:PersistentVolumeClaimSpec',
  PersistentVolumeClaimVolumeSource: 'claimName:string readOnly:boolean',
  PhotonPersistentDiskVolumeSource: 'fsType:string pdID:string',
  PodAffinity:
    'preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm[] requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm[]',
  PodAffinityTerm:
    'labelSelector:LabelSelector matchLabelKeys:string[] mismatchLabelKeys:string[] namespaceSelector:LabelSelector namespaces:string[] topologyKey:string',
  PodAntiAffinity:
    'preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm[] requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm[]',
  PodCertificateProjection:
    'certificateChainPath:string credentialBundlePath:string keyPath:string keyType:string maxExpirationSeconds:integer signerName:string',
  PodDNSConfig: 'nameservers:string[] options:PodDNSConfigOption[] searches:string[]',
  PodDNSConfigOption: 'name:string value:string',
  PodDisruptionBudget: 'apiVersion:string kind:string metadata:ObjectMeta spec:PodDisruptionBudgetSpec',
  PodDisruptionBudgetSpec: 'maxUnavailable minAvailable selector:LabelSelector unhealthyPodEvictionPolicy:string',
  PodFailurePolicy: 'rules:PodFailurePolicyRule[]',
  PodFailurePolicyOnExitCodesRequirement: 'containerName:string operator:string values:integer[]',
  PodFailurePolicyOnPodConditionsPattern: 'type:string',
  PodFailurePolicyRule:
    'action:string onExitCodes:PodFailurePolicyOnExitCodesRequirement onPodConditions:PodFailurePolicyOnPodConditionsPattern[]',
  PodOS: 'name:string',
  PodReadinessGate: 'conditionType:string',
  PodResourceClaim: 'name:string resourceClaimName:string resourceClaimTemplateName:string',
  PodSchedulingGate: 'name:string',
  PodSecurityContext:
    'appArmorProfile:AppArmorProfile fsGroup:integer fsGroupChangePolicy:string runAsGroup:integer runAsNonRoot:boolean runAsUser:integer seLinuxChangePolicy:string seLinuxOptions:SELinuxOptions seccompProfile:SeccompProfile supplementalGroups:integer[] supplementalGroupsPolicy:string sysctls:Sysctl[] windowsOptions:WindowsSecurityContextOptions',
  PodSpec:
    'activeDeadlineSeconds:integer affinity:Affinity automountServiceAccountToken:boolean containers:Container[name] dnsConfig:PodDNSConfig dnsPolicy:string enableServiceLinks:boolean ephemeralContainers:EphemeralContainer[name] hostAliases:HostAlias[ip] hostIPC:boolean hostNetwork:boolean hostPID:boolean hostUsers:boolean hostname:string hostnameOverride:string imagePullSecrets:LocalObjectReference[name] initContainers:Container[name] nodeName:string nodeSelector:strings os:PodOS overhead preemptionPolicy:string priority:integer priorityClassName:string readinessGates:PodReadinessGate[] resourceClaims:PodResourceClaim[name] resources:ResourceRequirements restartPolicy:string runtimeClassName:string schedulerName:string schedulingGates:PodSchedulingGate[name] securityContext:PodSecurityContext serviceAccount:string serviceAccountName:string setHostnameAsFQDN:boolean shareProcessNamespace:boolean subdomain:string terminationGracePeriodSeconds:integer tolerations:Toleration[] topologySpreadConstraints:TopologySpreadConstraint[topologyKey] volumes:Volume[name]',
  PodTemplateSpec: 'metadata:ObjectMeta spec:PodSpec',
  PortworxVolumeSource: 'fsType:string readOnly:boolean volumeID:string',
  PreferredSchedulingTerm: 'preference:NodeSelectorTerm weight:integer',
  Probe:
    'exec:ExecAction failureThreshold:integer grpc:GRPCAction httpGet:HTTPGetAction initialDelaySeconds:integer periodSeconds:integer successThreshold:integer tcpSocket:TCPSocketAction terminationGracePeriodSeconds:integer timeoutSeconds:integer',
  ProjectedVolumeSource: 'defaultMode:integer sources:VolumeProjection[]',
  QuobyteVolumeSource: 'group:string readOnly:boolean registry:string tenant:string user:string volume:string',
  RBDVolumeSource:
    'fsType:string image:string keyring:string monitors:string[] pool:string readOnly:boolean secretRef:LocalObjectReference user:string',
  ResourceClaim: 'name:string request:string',
  ResourceFieldSelector: 'containerName:string divisor resource:string',
  ResourceRequirements: 'claims:ResourceClaim[] limits requests',
  RollingUpdateDeployment: 'maxSurge maxUnavailable',
  RollingUpdateStatefulSetStrategy: 'maxUnavailable partition:integer',
  SELinuxOptions: 'level:string role:string type:string user:string',
  ScaleIOVolumeSource:
    'fsType:string gateway:string protectionDomain:string readOnly:boolean secretRef:LocalObjectReference sslEnabled:boolean storageMode:string storagePool:string system:string volumeName:string',
  SeccompProfile: 'localhostProfile:string type:string',
  SecretEnvSource: 'name:string optional:boolean',
  SecretKeySelector: 'key:string name:string optional:boolean',
  SecretProjection: 'items:KeyToPath[] name:string optional:boolean',
  SecretVolumeSource: 'defaultMode:integer items:KeyToPath[] optional:boolean secretName:string',
  SecurityContext:
    'allowPrivilegeEscalation:boolean appArmorProfile:AppArmorProfile capabilities:Capabilities privileged:boolean procMount:string readOnlyRootFilesystem:boolean runAsGroup:integer runAsNonRoot:boolean runAsUser:integer seLinuxOptions:SELinuxOptions seccompProfile:SeccompProfile windowsOptions:WindowsSecurityContextOptions',
  Service: 'apiVersion:string kind:string metadata:ObjectMeta spec:ServiceSpec',
  ServiceAccount:
    'apiVersion:string automountServiceAccountToken:boolean imagePullSecrets:LocalObjectReference[] kind:string metadata:ObjectMeta secrets:ObjectReference[name]',
  ServiceAccountTokenProjection: 'audience:string expirationSeconds:integer path:string',
  ServicePort: 'appProtocol:string name:string nodePort:integer port:integer protocol:string targetPort',
  ServiceSpec:
    'allocateLoadBalancerNodePorts:boolean clusterIP:string clusterIPs:string[] externalIPs:string[] externalName:string externalTrafficPolicy:string healthCheckNodePort:integer internalTrafficPolicy:string ipFamilies:string[] ipFamilyPolicy:string loadBalancerClass:string loadBalancerIP:string loadBalancerSourceRanges:string[] ports:ServicePort[port] publishNotReadyAddresses:boolean selector:strings sessionAffinity:string sessionAffinityConfig:SessionAffinityConfig trafficDistribution:string type:string',
  SessionAffinityConfig: 'clientIP:ClientIPConfig',
  SleepAction: 'seconds:integer',
  StatefulSet: 'apiVersion:string kind:string metadata:ObjectMeta spec:StatefulSetSpec',
  StatefulSetOrdinals: 'start:integer',
  StatefulSetPersistentVolumeClaimRetentionPolicy: 'whenDeleted:string whenScaled:string',
  StatefulSetSpec:
    'minReadySeconds:integer ordinals:StatefulSetOrdinals persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy podManagementPolicy:string replicas:integer revisionHistoryLimit:integer selector:LabelSelector serviceName:string template:PodTemplateSpec updateStrategy:StatefulSetUpdateStrategy volumeClaimTemplates:PersistentVolumeClaim[]',
  StatefulSetUpdateStrategy: 'rollingUpdate:RollingUpdateStatefulSetStrategy type:string',
  StorageOSVolumeSource:
    'fsType:string readOnly:boolean secretRef:LocalObjectReference volumeName:string volumeNamespace:string',
  SuccessPolicy: 'rules:SuccessPolicyRule[]',
  SuccessPolicyRule: 'succeededCount:integer succeededIndexes:string',
  Sysctl: 'name:string value:string',
  TCPSocketAction: 'host:string port',
  Toleration: 'effect:string key:string operator:string tolerationSeconds:integer value:string',
  TopologySpreadConstraint:
    'labelSelector:LabelSelector matchLabelKeys:string[] maxSkew:integer minDomains:integer nodeAffinityPolicy:string nodeTaintsPolicy:string topologyKey:string whenUnsatisfiable:string',
  TypedLocalObjectReference: 'apiGroup:string kind:string name:string',
  TypedObjectReference: 'apiGroup:string kind:string name:string namespace:string',
  Volume:
    'awsElasticBlockStore:AWSElasticBlockStoreVolumeSource azureDisk:AzureDiskVolumeSource azureFile:AzureFileVolumeSource cephfs:CephFSVolumeSource cinder:CinderVolumeSource configMap:ConfigMapVolumeSource csi:CSIVolumeSource downwardAPI:DownwardAPIVolumeSource emptyDir:EmptyDirVolumeSource ephemeral:EphemeralVolumeSource fc:FCVolumeSource flexVolume:FlexVolumeSource flocker:FlockerVolumeSource gcePersistentDisk:GCEPersistentDiskVolumeSource gitRepo:GitRepoVolumeSource glusterfs:GlusterfsVolumeSource hostPath:HostPathVolumeSource image:ImageVolumeSource iscsi:ISCSIVolumeSource name:string nfs:NFSVolumeSource persistentVolumeClaim:PersistentVolumeClaimVolumeSource photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource projected:ProjectedVolumeSource quobyte:QuobyteVolumeSource rbd:RBDVolumeSource scaleIO:ScaleIOVolumeSource secret:SecretVolumeSource storageos:StorageOSVolumeSource vsphereVolume:VsphereVirtualDiskVolumeSource',
  VolumeDevice: 'devicePath:string name:string',
  VolumeMount:
    'mountPath:string mountPropagation:string name:string readOnly:boolean recursiveReadOnly:string subPath:string subPathExpr:string',
  VolumeProjection:
    'clusterTrustBundle:ClusterTrustBundleProjection configMap:ConfigMapProjection downwardAPI:DownwardAPIProjection podCertificate:PodCertificateProjection secret:SecretProjection serviceAccountToken:ServiceAccountTokenProjection',
  VolumeResourceRequirements: 'limits requests',
  VsphereVirtualDiskVolumeSource: 'fsType:string storagePolicyID:string storagePolicyName:string volumePath:string',
  WeightedPodAffinityTerm: 'podAffinityTerm:PodAffinityTerm weight:integer',
  WindowsSecurityContextOptions:
    'gmsaCredentialSpec:string gmsaCredentialSpecName:string hostProcess:boolean runAsUserName:string',
};
