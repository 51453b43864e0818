import { type Alert, type AlertScope, series } from './alert';

type Status = 'True' | 'False' | 'Unknown';

interface ConditionAlert extends Pick<Alert, 'name' | 'severity' | 'for' | 'summary'> {
  readonly condition: string;
  /** The statuses that need a person. */
  readonly status: Status | readonly Status[];
  /** Reasons that belong to normal operation, or that another alert reports. */
  readonly except?: readonly string[];
  readonly only?: readonly string[];
}

/** One alert for each way in which a condition of an EtcdCluster can need a person. */
const conditionAlerts: readonly ConditionAlert[] = [
  {
    name: 'EtcdQuorumLost',
    severity: 'critical',
    condition: 'QuorumLost',
    status: 'True',
    for: '1m',
    summary: 'Reads and writes stop. Do not restart anything: bring back the nodes of the members, or recover.',
  },
  {
    name: 'EtcdUnavailable',
    severity: 'critical',
    condition: 'Available',
    status: 'False',
    except: ['QuorumLost', 'NoSpace', 'Bootstrapping', 'Restoring'],
    for: '2m',
    summary: 'Clients cannot use the cluster. See what the reason means and do what it says.',
  },
  {
    name: 'EtcdNotFormed',
    severity: 'warning',
    condition: 'Available',
    status: 'False',
    only: ['Bootstrapping', 'Restoring'],
    for: '30m',
    summary: 'The cluster does not serve yet. See in its status what the next pod waits for.',
  },
  {
    name: 'EtcdStateUnknown',
    severity: 'critical',
    condition: 'Available',
    status: 'Unknown',
    for: '15m',
    summary: 'The reconciler cannot observe whether the cluster serves. See in its status what does not answer.',
  },
  {
    name: 'EtcdDegraded',
    severity: 'warning',
    condition: 'Degraded',
    status: 'True',
    except: ['Starting', 'DiskPressure', 'DiskFull'],
    for: '10m',
    summary: 'A member, a pod or a volume has a problem. Find its cause before a second member fails.',
  },
  {
    name: 'EtcdStalled',
    severity: 'critical',
    condition: 'Stalled',
    status: 'True',
    for: '2m',
    summary: 'The reconciler waits for your decision, and changes nothing until then.',
  },
  {
    name: 'EtcdAlarm',
    severity: 'critical',
    condition: 'Alarm',
    status: 'True',
    for: '1m',
    summary: 'etcd has raised an alarm: it refuses writes (NoSpace), or the data of members differ (Corrupt).',
  },
  {
    name: 'EtcdSpecRefused',
    severity: 'warning',
    condition: 'Accepted',
    status: 'False',
    for: '5m',
    summary: 'The applied manifests ask for something that is not possible. Correct them, or revert them.',
  },
  {
    name: 'EtcdBackupUnhealthy',
    severity: 'critical',
    condition: 'BackupHealthy',
    status: 'False',
    except: ['NoSchedule', 'BackupPending'],
    for: '5m',
    summary: 'A backup failed or is overdue. Read the message of BackupHealthy and correct the cause.',
  },
  {
    name: 'EtcdBackupDoesNotStart',
    severity: 'critical',
    condition: 'BackupHealthy',
    status: 'False',
    only: ['BackupPending'],
    for: '30m',
    summary: 'The pod of a backup does not start. Read the message of BackupHealthy and correct the cause.',
  },
  {
    name: 'EtcdCertificatesNotReady',
    severity: 'critical',
    condition: 'CertificatesReady',
    status: ['False', 'Unknown'],
    except: ['Issuing', 'RotatingRoot', 'RevokingIntermediates', 'RootExpiring'],
    for: '15m',
    summary: 'A certificate is not valid, or will not be renewed in time. Do what the reason says.',
  },
  {
    name: 'EtcdRootExpires',
    severity: 'warning',
    condition: 'CertificatesReady',
    status: 'False',
    only: ['RootExpiring'],
    for: '1h',
    summary: 'A root ends within a year. Replace it while all members are healthy.',
  },
  {
    name: 'EtcdAuthNotReady',
    severity: 'critical',
    condition: 'AuthReady',
    status: ['False', 'Unknown'],
    for: '15m',
    summary: "etcd's authentication is not as asked for. Check who can read the data, and do what the reason says.",
  },
  {
    name: 'EtcdTransportNotReady',
    severity: 'warning',
    condition: 'TransportReady',
    status: ['False', 'Unknown'],
    except: ['PlaintextAccepted', 'Bootstrapping'],
    for: '1h',
    summary: 'TLS is not as asked for, or its switch does not get on. See in the status which member it waits for.',
  },
  {
    name: 'EtcdPlaintextAccepted',
    severity: 'warning',
    condition: 'TransportReady',
    status: 'False',
    only: ['PlaintextAccepted'],
    for: '25h',
    summary: 'Clients may still use http, without a certificate. Move them to https and end the window.',
  },
];

/** A template for the reason that the condition has now. */
const reasonNow = (more = ''): string =>
  '{{ with printf "etcd_cluster_condition{namespace=%q,etcd_cluster=%q,condition=%q}" $labels.namespace $labels.etcd_cluster $labels.condition | query }}' +
  `{{ . | first | label "reason"${more} }}{{ end }}`;

/** Returns the alerts on the conditions that the reconciler reports. */
export function alertsOnConditions(scope: AlertScope): Alert[] {
  return conditionAlerts.map(({ condition, status, except, only, ...alert }) => {
    const found = series(
      'etcd_cluster_condition',
      scope,
      `condition="${condition}"`,
      matcher('status', status),
      ...(except ? [`reason!~"${except.join('|')}"`] : []),
      ...(only ? [matcher('reason', only)] : []),
    );
    return {
      ...alert,
      // The time of an alert would begin anew with each change of a label, and a condition may alternate between reasons.
      expr: `max by (namespace, etcd_cluster, condition) (${found}) == 1`,
      summary: `${alert.summary} Reason: ${reasonNow()}.`,
      runbook: `runbook.md#${reasonNow(' | toLower')}`,
    };
  });
}

const matcher = (label: string, values: string | readonly string[]): string =>
  typeof values === 'string' ? `${label}="${values}"` : `${label}=~"${values.join('|')}"`;
