import { createServer } from 'node:http';
import { messageOf } from '../../../src/lib/errors.ts';
import {
  dataIsThere,
  type Loss,
  registersLinearize,
  revisionsRise,
  watchedAll,
} from '../../members/checks/data-checks.ts';
import { acknowledged, elections, longestGap } from '../../members/checks/history.ts';
import { Journal } from '../../members/checks/journal.ts';
import { missedWrites } from '../../members/checks/missed-writes.ts';
import { CpuPressure } from '../../members/support/cpu-pressure.ts';
import type { Target } from '../../members/support/kv-client.ts';
import { Watcher } from '../../members/support/watcher.ts';
import { Writer } from '../../members/support/writer.ts';

/**
 * A client of one cluster, in a pod of an end-to-end test: writes and watches continuously, and reports what it saw.
 * CLIENT_TARGET names the cluster, CLIENT_ROOT the certificate of root if there are users, for the verdict, and CLIENT_JOURNAL the
 * file with its history, which outlives the pod.
 * `/facts?since=MS` returns the results so far; `/judge?voters=N&losses=JSON` ends the client and returns the verdict.
 */
const target: Target = JSON.parse(process.env.CLIENT_TARGET ?? '');
const { CLIENT_JOURNAL: path, CLIENT_ROOT: root } = process.env;
/** HashKV is for root alone. */
const judged: Target = root ? { ...target, tls: JSON.parse(root) } : target;
const writer = Writer.start({ target, clients: 2, pause: 50, journal: path ? new Journal(path) : undefined });
const watcher = Watcher.start({ target, prefix: writer.prefix });
const pressure = new CpuPressure();
setInterval(() => pressure.sample(), 250);

function facts(since: number) {
  const { history, now } = writer;
  return {
    now,
    written: acknowledged(history.writes).length,
    longestGap: longestGap(history, since, now),
    ...missedWrites(history, since, pressure),
    elections: elections(history),
    clusterIds: history.clusterIds,
    compacted: watcher.compacted,
  };
}

async function judge(voters: number, losses: readonly Loss[]) {
  const history = await writer.stop();
  const newest = history.clusterIds.at(-1);
  const revisions = acknowledged(history.writes)
    .filter(({ clusterId }) => clusterId === newest)
    .map(({ revision }) => revision);
  const watched = await watcher.reached(Math.max(0, ...revisions));
  return {
    clusterIds: history.clusterIds,
    written: acknowledged(history.writes).length,
    wrong: [
      ...(watched ? [] : [`the watcher is at revision ${watcher.revision}`]),
      ...(await dataIsThere(judged, writer.prefix, history, losses, voters)),
      ...revisionsRise(history),
      ...registersLinearize(history),
      ...watchedAll(history, watcher),
    ],
  };
}

createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://client');
  const number = (name: string) => Number(searchParams.get(name) ?? 0);
  try {
    const answer =
      pathname === '/judge'
        ? await judge(number('voters'), JSON.parse(searchParams.get('losses') ?? '[]'))
        : facts(number('since'));
    response.end(JSON.stringify(answer));
  } catch (error) {
    response.writeHead(500).end(messageOf(error));
  }
}).listen(8080);
