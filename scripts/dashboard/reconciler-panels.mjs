// The panels of a reconciler's dashboard. What it does to a cluster is on the dashboard of that cluster.
import { from, selector } from './parts.mjs';

const of = selector('namespace', 'reconciler');

export const rows = [
  {
    title: 'Reconciler',
    panels: [
      {
        title: 'Active',
        text: 'Whether a pod holds the Lease. Only that pod acts.',
        kind: 'stat',
        width: 6,
        queries: [{ expr: `max(${of('etcd_reconciler_leader')}) or vector(0)` }],
        words: { 0: 'no', 1: 'yes' },
        thresholds: from(1),
      },
      {
        title: 'Pods',
        text: 'Pods that Prometheus reaches.',
        kind: 'stat',
        width: 6,
        queries: [{ expr: `count(${of('etcd_reconciler_leader')}) or vector(0)` }],
      },
      {
        title: 'Kinds that cannot be watched',
        text: 'Kinds of objects whose changes the reconciler does not see now. Its log says why.',
        kind: 'stat',
        width: 12,
        queries: [
          { expr: `sum by (resource) (${of('etcd_reconciler_synced')} == bool 0) > 0`, legend: '{{resource}}' },
        ],
        shows: 'name',
      },
      {
        title: 'Leader',
        text: 'Which pod holds the Lease.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: of('etcd_reconciler_leader'), legend: '{{pod}}' }],
      },
      {
        title: 'Backups',
        text: 'EtcdBackups by phase.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: `sum by (phase) (${of('etcd_reconciler_backups')})`, legend: '{{phase}}' }],
      },
      {
        title: 'Full lists in an hour',
        text: 'How often a kind was listed anew. A watch that breaks again and again shows here.',
        kind: 'timeseries',
        width: 8,
        queries: [
          { expr: `sum by (resource) (increase(${of('etcd_reconciler_lists_total')}[1h]))`, legend: '{{resource}}' },
        ],
      },
      {
        title: 'Memory',
        text: 'Resident memory.',
        kind: 'timeseries',
        width: 8,
        unit: 'bytes',
        queries: [{ expr: of('process_resident_memory_bytes'), legend: '{{pod}}' }],
      },
      {
        title: 'CPU',
        text: 'CPU seconds per second.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: `rate(${of('process_cpu_seconds_total')}[$__rate_interval])`, legend: '{{pod}}' }],
      },
    ],
  },
];
