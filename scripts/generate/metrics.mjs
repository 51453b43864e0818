// Writes docs/reference/metrics.md from the agent's own table of its metrics. With --check it writes nothing, and fails if the
// page is out of date.
import { metrics, sources } from '../../agent/src/lib/metrics/table.ts';
import { generated } from '../lib/generated.mjs';

const about = {
  reconciler: [
    'The reconciler',
    '`GET /metrics` of the Service `etcd-reconciler`. Only the process that holds the Lease reports clusters. A cluster that is deleted, or that the reconciler does not manage any more, has no series. None of them has a label `namespace`: a reconciler has one namespace, and [a scrape adds it](../operations/monitoring.md#an-etcdcluster). [agent.md](agent.md#actions-that-are-counted) says which values `action` has.',
  ],
  'member agent': [
    'The agent of a member',
    '`GET /metrics` on port 8080 of the [pod of a member](../clusters/member-pods.md#get-status). etcd serves its own metrics on port 2381.',
  ],
  command: [
    'A command with `--metrics-file`',
    '[The textfile](../operations/monitoring.md#metrics) that `backup`, `verify`, `prune`, `copy`, `status` and `salvage` write for node_exporter. Each writes what it knows.',
  ],
  exporter: [
    '`etcd-agent exporter`',
    '`GET /metrics` of [the exporter](../operations/monitoring.md#etcd-agent-exporter).',
  ],
};

const content = `# Metrics

<!-- Written by \`npm run generate\` from agent/src/lib/metrics/table.ts. -->

Every metric of the agent, by the process that reports it. A value that is not known has no series: nothing is reported as 0
instead. The label \`namespace\` exists where a namespace is known. [Monitoring](../operations/monitoring.md) has alerts.

${sources.map(section).join('\n')}`;

generated('docs/reference/metrics.md', () => content);

function section(source) {
  const [title, where] = about[source];
  const own = Object.entries(metrics).filter(([, { from }]) => from.includes(source));
  const rows = own.map(([name, { type, labels, help }]) => {
    const named = labels.map((label) => `\`${label}\``).join(', ') || 'none';
    return `| \`${name}\` | ${type} | ${unitOf(name)} | ${named} | ${help} |`;
  });
  return `## ${title}\n\n${where}\n\n| metric | type | unit | labels | meaning |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function unitOf(name) {
  if (name.endsWith('_timestamp_seconds')) return 'seconds since 1970';
  if (/_seconds(_total)?$/.test(name)) return 'seconds';
  if (name.endsWith('_bytes')) return 'bytes';
  return 'none';
}
