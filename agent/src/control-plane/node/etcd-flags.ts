import { parseYaml } from '../../lib/input/yaml.ts';

/** etcd's settings by flag name, whether set by flag, environment or config file. */
export type EtcdFlags = Readonly<Record<string, string>>;

/** Of a flag that is given several times, the last one counts. */
export const flagsOfArguments = (args: readonly string[]): EtcdFlags => Object.fromEntries(givenFlags(args));

/** All URLs of etcd that a kube-apiserver uses. Both flags add up, and the second one has `group/resource#url;url`. */
export const etcdUrls = (args: readonly string[]): string[] =>
  givenFlags(args)
    .flatMap(([flag, value]) => {
      if (flag === 'etcd-servers') return value.split(',');
      return flag === 'etcd-servers-overrides'
        ? value.split(',').flatMap((each) => each.replace(/^.*#/, '').split(';'))
        : [];
    })
    .filter(Boolean);

/** Parses `--name=value`, `-name=value`, `--name value`, and `--name` alone, which means true. */
export function givenFlags(args: readonly string[]): [name: string, value: string][] {
  const flags: [string, string][] = [];
  for (let at = 0; at < args.length; at++) {
    const [, name, value] = /^--?([a-z][a-z0-9-]*)(?:=(.*))?$/s.exec(args[at]!) ?? [];
    if (name === undefined) continue;
    const next = args[at + 1];
    if (value !== undefined) flags.push([name, value]);
    else if (next === undefined || next.startsWith('-')) flags.push([name, 'true']);
    else {
      flags.push([name, next]);
      at++;
    }
  }
  return flags;
}

/** Parses environment variables: `ETCD_DATA_DIR` sets `data-dir`. */
export function flagsOfEnvironment(env: Readonly<Record<string, string>>): EtcdFlags {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      /^ETCD_[A-Z0-9_]+$/.test(name) ? [[name.slice(5).toLowerCase().replaceAll('_', '-'), value]] : [],
    ),
  );
}

const transports: Record<string, string> = { 'client-transport-security': '', 'peer-transport-security': 'peer-' };

/** Parses etcd's config file, in which a setting without a value is not set. Throws if the text is not valid YAML. */
export function flagsOfConfig(text: string): EtcdFlags {
  const document = (parseYaml(text) ?? {}) as Record<string, unknown>;
  if (typeof document !== 'object' || Array.isArray(document)) throw new TypeError('it is not a map of settings');
  const settings = Object.entries(document).flatMap(([name, value]) => {
    const prefix = Object.hasOwn(transports, name) ? transports[name] : undefined;
    if (prefix === undefined || typeof value !== 'object') return [[name, value] as const];
    return Object.entries(value ?? {}).map(([key, each]) => [`${prefix}${key}`, each] as const);
  });
  return Object.fromEntries(
    settings.flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, String(value)]])),
  );
}

/**
 * With a config file etcd ignores flags and environment. Otherwise flags take precedence over the environment. An empty value is
 * etcd's default, and an empty variable is not set.
 */
export async function effectiveFlags(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  readConfig: (file: string) => Promise<string>,
): Promise<EtcdFlags> {
  const given = { ...withoutEmpty(flagsOfEnvironment(env)), ...flagsOfArguments(args) };
  const file = given['config-file'];
  return withoutEmpty(file ? flagsOfConfig(await readConfig(file)) : given);
}

const withoutEmpty = (flags: EtcdFlags): EtcdFlags =>
  Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== ''));
