import {
  agentKeys,
  type ConfigKey,
  configKey,
  configKeys,
  neverWritten,
  type Settings,
  valueProblem,
} from './etcd-config-keys';

/** Settings by canonical key, and what is wrong with those that were given. */
export interface CanonicalSettings {
  readonly settings: { readonly [key: string]: unknown };
  readonly problems: readonly string[];
}

type Found = readonly [key: string, value: unknown];

/** Reads settings that are given in the spelling of that minor's configuration file. */
export function canonicalSettings(given: Settings, minor: string): CanonicalSettings {
  const found: Found[] = [];
  const problems: string[] = [];
  for (const [spelling, value] of Object.entries(given)) {
    const result = spelling === 'feature-gates' ? readGates(value, minor) : readSetting(spelling, value, minor);
    if (typeof result === 'string') problems.push(`settings: ${result}`);
    else found.push(...result);
  }
  return { settings: Object.fromEntries(found), problems };
}

function readSetting(spelling: string, value: unknown, minor: string): Found[] | string {
  const never = neverWritten(spelling);
  if (never) return `'${spelling}' is never set, as ${never}; remove it`;
  if (agentKeys.includes(spelling)) return `'${spelling}' is set by the agent on each member; remove it`;
  const key = Object.keys(configKeys).find((candidate) => configKeys[candidate]!.spellings[minor] === spelling);
  if (key === undefined) return unknownProblem(spelling, minor);
  return valueProblem(`'${spelling}'`, configKeys[key]!, value) ?? [[key, value]];
}

function readGates(value: unknown, minor: string): Found[] | string {
  const example = "'InitialCorruptCheck=true,LeaseCheckpoint=false'";
  if (minor < '3.6')
    return `etcd ${minor} has no 'feature-gates'; write its own keys, such as 'experimental-enable-lease-checkpoint'`;
  if (typeof value !== 'string')
    return `'feature-gates' is ${JSON.stringify(value)}; write one text, such as ${example}`;
  const gates = value.split(',').map((gate) => /^\s*(\w+)=(true|false)\s*$/.exec(gate));
  const odd = gates.findIndex((gate) => !gate);
  if (odd >= 0) return `'feature-gates' has '${value.split(',')[odd]}'; write it like ${example}`;
  const unknown = gates.find((gate) => !isGate(gate![1]!, minor));
  if (unknown) return `'feature-gates': etcd ${minor} has no gate '${unknown[1]}', and would not start; remove it`;
  return gates.map((gate) => [gate![1]!, gate![2] === 'true'] as const);
}

function isGate(name: string, minor: string): boolean {
  const key = configKey(name);
  return key?.type === 'gate' && key.minors.includes(minor);
}

/** Whoever knows the key of another minor, or writes it as a flag or a variable, is told how it is written here. */
function unknownProblem(spelling: string, minor: string): string {
  const plain = spelling
    .replace(/^--/, '')
    .replace(/^ETCD_/, '')
    .replaceAll('_', '-')
    .toLowerCase();
  const key = Object.keys(configKeys).find((candidate) => isNamed(candidate, configKeys[candidate]!, plain));
  if (key === undefined) return `'${spelling}' is no key of etcd's configuration; look for a typing error`;
  const here = configKeys[key]!.spellings[minor];
  if (here !== undefined) return `'${spelling}' is '${here}' in etcd ${minor}; write that`;
  if (isGate(key, minor))
    return `'${spelling}' is a feature gate in etcd ${minor}; write 'feature-gates': '${key}=true' or false`;
  return `'${spelling}' is not in etcd ${minor}, which would ignore it without a word; remove it`;
}

const isNamed = (key: string, { spellings }: ConfigKey, plain: string) =>
  key.toLowerCase() === plain || Object.values(spellings).includes(plain);
