import type { NamedCluster } from '../backup/catalog/identity/folder.ts';
import { checkEtcd } from '../backup/check/check-etcd.ts';
import { checkStore } from '../backup/check/check-store.ts';
import { checkEncryption, checkEtcdutl } from '../backup/check/check-tools.ts';
import { type CheckResult, finding, warning } from '../backup/check/finding.ts';
import { Etcdutl } from '../etcd/offline/etcdutl.ts';
import { withTimeout } from '../lib/limits/budget.ts';
import { table } from '../lib/terminal/table.ts';
import { openStore } from '../store/open.ts';
import type { StoreSpec } from '../store/spec.ts';
import { storeUrl } from '../store/url.ts';
import { told } from './advice/advice.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';

export const run: Command = (context) => withTimeout(context, check);

async function check(context: CommandContext): Promise<CommandResult> {
  const { settings, signal, progress } = context;
  const named = settings.cluster();
  const stores = settings.stores();
  progress.phase('check-etcd', 'checking the members');
  const findings = await etcdFindings(context);
  for (const spec of stores) {
    progress.phase('check-store', `testing ${storeUrl(spec)}`);
    findings.push(...(await storeFindings(spec, named, context)));
  }
  progress.phase('check-tools', 'checking keys and tools');
  findings.push(...(await checkEncryption(settings, signal)));
  findings.push(await checkEtcdutl(new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'), signal));
  const spoken = ({ at, finding: one, ...result }: CheckResult) => ({
    ...result,
    detail: told({ message: result.detail, at, finding: one }),
  });
  return describe(findings.map(spoken), named);
}

async function etcdFindings({ settings, signal, log }: CommandContext): Promise<CheckResult[]> {
  if (settings.list('endpoints').length === 0) return [warning('etcd', 'not checked, because --endpoints is missing')];
  return finding('etcd', signal, async () => checkEtcd(await settings.access(), log, signal));
}

async function storeFindings(
  spec: StoreSpec,
  named: NamedCluster,
  { signal, budget }: CommandContext,
): Promise<CheckResult[]> {
  return finding('store', signal, async () => {
    const store = await openStore(spec, budget);
    try {
      return await checkStore(store, named, signal);
    } finally {
      store.close();
    }
  });
}

function describe(findings: readonly CheckResult[], named: NamedCluster): CommandResult {
  const count = (what: CheckResult['outcome']) => findings.filter(({ outcome }) => outcome === what).length;
  const counts = { ok: count('ok'), warnings: count('warning'), failed: count('failed') };
  return {
    exitCode: findings.find(({ exitCode }) => exitCode)?.exitCode ?? 0,
    text: [
      table(
        ['', 'CHECK', 'FOUND'],
        findings.map(({ check, outcome, detail }) => [outcome, check, detail]),
      ),
      `failed: ${counts.failed}, warnings: ${counts.warnings}`,
    ].join('\n'),
    // Without the count of `ok`, because the result has a field of that name.
    data: { ...named, warnings: counts.warnings, failed: counts.failed, findings },
  };
}
