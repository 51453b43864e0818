// Writes one key after the other into etcd until it gets SIGTERM: see agent/test/clients/support/writing-client.ts.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { caller } from './connect.mjs';

const text = { type: 'string' };
const { values } = parseArgs({ options: { endpoints: text, directory: text, prefix: text, reads: text } });
const report = (line) => console.log(JSON.stringify(line));

// A client that reads nothing again has the files of its start.
const kept = mkdtempSync(join(tmpdir(), 'kept-'));
process.on('exit', () => rmSync(kept, { recursive: true }));
cpSync(values.directory, kept, { recursive: true, dereference: true });

let stopped = false;
process.on('SIGTERM', () => {
  stopped = true;
});
const call = caller(values.reads === 'all' ? values.directory : kept, values.endpoints.split(','));
let [written, failed, longestGap, last] = [0, 0, 0, performance.now()];
for (let n = 0; !stopped; n++) {
  const key = `${values.prefix}${n}`;
  try {
    await call((client) =>
      client
        .put(key)
        .value('x')
        .options({ deadline: Date.now() + 3_000 }),
    );
    written++;
    longestGap = Math.max(longestGap, performance.now() - last);
    last = performance.now();
    if (written % 10 === 0) report({ written });
  } catch (error) {
    failed++;
    report({ key, error: String(error) });
  }
  await sleep(20);
}
report({ written, failed, longestGap: Math.round(longestGap) });
process.exit();
