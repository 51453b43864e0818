// The classes of the public API as types of properties. Each is recognized by a member of its own.
import { instance } from './type-checks';

export const AutoCompaction = instance(
  'an AutoCompaction',
  '_spec',
  'for example AutoCompaction.periodic(Duration.hours(1))',
);
export const BackupStore = instance('a BackupStore', '_definition', 'for example BackupStore.s3({ … })');
export const CaBundle = instance('a CaBundle', '_files', "for example CaBundle.fromSecret('NAME')");
export const Cron = instance(
  'a Cron',
  'expressionString',
  "for example Cron.hourly() or Cron.schedule({ minute: '17' })",
);
export const Duration = instance('a Duration', 'toMilliseconds', 'for example Duration.minutes(5)');
export const Encryption = instance('an Encryption', '_spec', 'Encryption.age({ … })');
export const EtcdAlerts = instance('an EtcdAlerts', '_alerts', 'for example EtcdAlerts.all()');
export const EtcdAuth = instance('an EtcdAuth', '_files', "EtcdAuth.fromSecret('NAME')");
export const EtcdClientTls = instance('an EtcdClientTls', '_pod', "for example EtcdClientTls.fromSecret('NAME')");
export const EtcdDashboard = instance('an EtcdDashboard', '_dashboard', 'for example EtcdDashboard.configMap()');
export const EtcdPermission = instance(
  'an EtcdPermission',
  '_permission',
  "for example EtcdPermission.readWrite('/api/')",
);
export const EtcdResources = instance('an EtcdResources', '_spec', 'EtcdResources.SMALL or EtcdResources.of({ … })');
export const EtcdScrape = instance('an EtcdScrape', '_scrape', 'for example EtcdScrape.serviceMonitors()');
export const EtcdSpread = instance('an EtcdSpread', '_spec', 'for example EtcdSpread.REQUIRED_ZONES');
export const EtcdTls = instance(
  'an EtcdTls',
  '_spec',
  "for example EtcdTls.managed() or EtcdTls.certManager({ issuer: 'NAME' })",
);
export const EtcdTuning = instance('an EtcdTuning', '_spec', 'EtcdTuning.WAN or EtcdTuning.of({ … })');
export const EtcdVersion = instance(
  'an EtcdVersion',
  'minor',
  "for example EtcdVersion.V3_6 or EtcdVersion.of('3.6.16')",
);
export const IEtcdCluster = instance('an IEtcdCluster', 'clientEndpoints', 'the construct of a cluster');
export const IEtcdReconciler = instance(
  'an IEtcdReconciler',
  'reconcilerName',
  'the construct, or EtcdReconciler.external()',
);
export const NetworkAccess = instance('a NetworkAccess', '_peers', 'for example NetworkAccess.peers({ … })');
export const OssCredentials = instance('an OssCredentials', '_files', "OssCredentials.fromSecret('NAME')");
export const ReplacePolicy = instance('a ReplacePolicy', '_spec', 'for example ReplacePolicy.manual({ … })');
export const RestoreSource = instance('a RestoreSource', '_spec', "for example RestoreSource.backup('NAME')");
export const Retention = instance('a Retention', '_policy', 'for example Retention.last(7)');
export const S3Credentials = instance(
  'an S3Credentials',
  '_profile',
  "S3Credentials.fromSecret('NAME'), or S3Credentials.workloadIdentity() for none",
);
export const SftpCredentials = instance('an SftpCredentials', '_files', "SftpCredentials.fromSecret('NAME')");
export const Size = instance('a Size', 'toKibibytes', 'for example Size.gibibytes(8)');
export const SseCustomerKey = instance('an SseCustomerKey', '_files', "SseCustomerKey.fromSecret('NAME')");
