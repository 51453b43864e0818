import { type Alert, type AlertScope, conditionIs } from './alert';

type Status = 'True' | 'False' | 'Unknown';

interface ConditionAlert extends Pick<Alert, 'name' | 'severity' | 'for' | 'summary'> {
  readonly condition: string;
  /** The statuses that need a person. */
  readonly status: Status | readonly Status[];
  /** Reasons that belong to normal operation, or that another alert reports. */
  readonly except?: readonly string[];
  readonly only?: readonly string[];
  /** Conditions whose alert is enough if they have the same reason. */
  readonly behind?: readonly Other[];
  /** A reason that only follows from a spec that is refused, which has its own alert, while `Accepted` is False. */
  readonly unlessRefused?: string;
  /** A cluster that is being formed has its own alert. */
  readonly onceFormed?: boolean;
  /** While clients cannot use the cluster, which has its own alert, Unknown says nothing new. */
  readonly unknownIfServing?: boolean;
  /** etcd answers it by way of its log, as it lists its alarms: while those are unknown, Unknown says nothing new either. */
  readonly byLog?: boolean;
}

type Other = 'QuorumLost' | 'Stalled' | 'Alarm' | 'Available';

/** Reasons of `Available` in a cluster that does not serve yet. */
const forming = ['Bootstrapping', 'Restoring'] as const;

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
    except: ['QuorumLost', 'NoSpace', 'Corrupt', 'Deleting', ...forming],
    behind: ['Stalled'],
    for: '2m',
    summary: 'Clients cannot use the cluster. See what the reason means and do what it says.',
  },
  {
    name: 'EtcdNotFormed',
    severity: 'warning',
    condition: 'Available',
    status: 'False',
    only: forming,
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
    behind: ['QuorumLost', 'Stalled', 'Available'],
    onceFormed: true,
    for: '10m',
    summary: 'A member, a pod, a volume or the quota has a problem. Find its cause before it becomes an outage.',
  },
  {
    name: 'EtcdVolumeFull',
    severity: 'critical',
    condition: 'Degraded',
    status: 'True',
    only: ['DiskFull'],
    behind: ['QuorumLost', 'Available'],
    for: '2m',
    summary: 'A full volume has stopped a member. Free space before a second one stops.',
  },
  {
    name: 'EtcdStalled',
    severity: 'critical',
    condition: 'Stalled',
    status: 'True',
    except: ['CorruptAlarm'],
    behind: ['QuorumLost', 'Alarm'],
    unlessRefused: 'UpgradeRefused',
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
    name: 'EtcdAlarmUnknown',
    severity: 'critical',
    condition: 'Alarm',
    status: 'Unknown',
    unknownIfServing: true,
    for: '5m',
    summary:
      'etcd answers reads, but not which alarms it raises. It lists them as it writes, so writes probably hang: try one.',
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
    unknownIfServing: true,
    for: '15m',
    summary: 'A certificate is not valid, or will not be renewed in time. Do what the reason says.',
  },
  {
    name: 'EtcdRevocationWaits',
    severity: 'warning',
    condition: 'CertificatesReady',
    status: 'False',
    only: ['RevokingIntermediates'],
    for: '1h',
    summary: 'A revocation is not complete. The message of CertificatesReady names who may still use what was revoked.',
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
    unknownIfServing: true,
    byLog: true,
    for: '15m',
    summary: "etcd's authentication is not as asked for. Check who can read the data, and do what the reason says.",
  },
  {
    name: 'EtcdVersionUnsafe',
    severity: 'warning',
    condition: 'VersionSafe',
    status: 'False',
    for: '1h',
    summary: 'The version of etcd has known vulnerabilities. Upgrade to the version that the message names.',
  },
  {
    name: 'EtcdTransportNotReady',
    severity: 'warning',
    condition: 'TransportReady',
    status: ['False', 'Unknown'],
    except: ['PlaintextAccepted', 'Bootstrapping'],
    unknownIfServing: true,
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
  return conditionAlerts.map((alert) => {
    const { name, severity, for: lasts, summary } = alert;
    return {
      ...{ name, severity, for: lasts },
      // The time of an alert would begin anew with each change of a label, and a condition may alternate between reasons.
      expr: `max by (namespace, etcd_cluster, condition) (${found(scope, alert)}) == 1`,
      summary: `${summary} Reason: ${reasonNow()}.`,
      runbook: `runbook.md#${reasonNow(' | toLower')}`,
    };
  });
}

const on = 'on (namespace, etcd_cluster)';

function found(scope: AlertScope, alert: ConditionAlert): string {
  const {
    condition,
    status,
    except = [],
    only,
    behind = [],
    unlessRefused,
    onceFormed,
    unknownIfServing,
    byLog,
  } = alert;
  const others = [...except, ...(unlessRefused ? [unlessRefused] : [])];
  const reasons = [
    ...(others.length > 0 ? [`reason!~"${others.join('|')}"`] : []),
    ...(only ? [matcher('reason', only)] : []),
  ];
  const own = (statuses: ConditionAlert['status'], matchers = reasons) =>
    conditionIs(scope, condition, matcher('status', statuses), ...matchers);
  if (unknownIfServing) {
    const notServing = conditionIs(scope, 'Available', 'status!="True"');
    const known = [status].flat().filter((each) => each !== 'Unknown');
    const silent = [notServing, ...(byLog ? [conditionIs(scope, 'Alarm', 'status="Unknown"')] : [])];
    const news = [own('Unknown'), ...silent].join(` unless ${on} `);
    return [...known.map((each) => own(each)), news].join(' or ');
  }
  const inFront = behind.map((other) => conditionIs(scope, other, `status="${bad[other]}"`));
  const forms = conditionIs(scope, 'Available', 'status="False"', matcher('reason', forming));
  const refused = conditionIs(scope, 'Accepted', 'status="False"');
  return [
    own(status),
    ...inFront.map((other) => `unless on (namespace, etcd_cluster, reason) ${other}`),
    ...(onceFormed ? [`unless ${on} ${forms}`] : []),
    ...(unlessRefused ? [`or ${own(status, [matcher('reason', unlessRefused)])} unless ${on} ${refused}`] : []),
  ].join(' ');
}

const bad: Readonly<Record<Other, Status>> = { QuorumLost: 'True', Stalled: 'True', Alarm: 'True', Available: 'False' };

const matcher = (label: string, values: string | readonly string[]): string =>
  typeof values === 'string' ? `${label}="${values}"` : `${label}=~"${values.join('|')}"`;
