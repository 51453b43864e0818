import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as z from 'zod/mini';
import { usageError } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';
import { parseFirstYaml } from '../../lib/input/yaml.ts';
import { own } from '../../lib/own.ts';

const texts = z.nullish(z.array(z.string()));
const user = z.nullish(z.object({ runAsUser: z.nullish(z.int()), runAsGroup: z.nullish(z.int()) }));
const mount = z.object({
  name: z.string(),
  mountPath: z.string(),
  subPath: z.nullish(z.string()),
  subPathExpr: z.nullish(z.string()),
});
const variable = z.object({ name: z.string(), value: z.nullish(z.string()), valueFrom: z.nullish(z.unknown()) });
const containerSchema = z.object({
  name: z.string(),
  image: z.nullish(z.string()),
  command: texts,
  args: texts,
  env: z.nullish(z.array(variable)),
  securityContext: user,
  volumeMounts: z.nullish(z.array(mount)),
});
const volume = z.object({ name: z.string(), hostPath: z.nullish(z.object({ path: z.string() })) });
const podSchema = z.object({
  kind: z.literal('Pod'),
  spec: z.object({
    containers: z.array(containerSchema).check(z.minLength(1)),
    securityContext: user,
    volumes: z.nullish(z.array(volume)),
  }),
});

/** One container in the manifest of a static Pod. */
export interface StaticPod {
  readonly image?: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** Maps a path in the container to a path on the host. */
  hostPath(path: string): string;
}

/** Reads the named container from a kubeadm manifest. Throws a usage error if the file is not one. */
export async function readStaticPod(file: string, container: string): Promise<StaticPod> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw usageError(`${file}: cannot be read ${readFault(error)}`);
  });
  const wrong = (why: string) =>
    usageError(`${file}: not a kubeadm manifest: ${why}`, { finding: { kind: 'noManifest' } });
  const parsed = podSchema.safeParse(tryYaml(text));
  if (!parsed.success) throw wrong('it does not define a Pod');
  const { spec } = parsed.data;
  const found = spec.containers.find(({ name }) => name === container);
  if (!found) throw wrong(`its Pod has no container '${container}'`);
  const env = environmentOf(found.env ?? []);
  const [program, ...args] = [...(found.command ?? []), ...(found.args ?? [])].map((word) => expanded(word, env));
  if (!program) throw wrong(`the container '${container}' has no command`);
  const uid = found.securityContext?.runAsUser ?? spec.securityContext?.runAsUser;
  const gid = found.securityContext?.runAsGroup ?? spec.securityContext?.runAsGroup;
  const mounts = (found.volumeMounts ?? []).flatMap(({ name, mountPath, subPath, subPathExpr }) => {
    const path = spec.volumes?.find((volume) => volume.name === name)?.hostPath?.path;
    const below = subPath ?? expanded(subPathExpr ?? '', env);
    return path === undefined ? [] : [{ mountPath, path: join(path, below) }];
  });
  return {
    program,
    args,
    env,
    image: found.image ?? undefined,
    uid: uid ?? undefined,
    gid: gid ?? undefined,
    hostPath: (path) => onHost(path, mounts),
  };
}

/** Values may refer to variables before them. One that only the kubelet knows stays as a reference to itself. */
function environmentOf(variables: readonly z.infer<typeof variable>[]): Record<string, string> {
  const env: Record<string, string> = {};
  for (const { name, value, valueFrom } of variables) env[name] = valueFrom ? `$(${name})` : expanded(value ?? '', env);
  return env;
}

/** Expands `$(NAME)` as the kubelet does: what it does not know it leaves as it is, and `$$` is one dollar. */
const expanded = (text: string, env: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$(?:\$|\(([^)]*)\))/g, (whole, name?: string) =>
    name === undefined ? '$' : (own(env, name) ?? whole),
  );

/** The first variable in a value that only the kubelet knows. */
export const unknownIn = (value: string): string | undefined => /\$\([^)]*\)/.exec(value)?.[0];

/** Uses the deepest mount that contains the path. A path outside all mounts counts as a path on the host. */
function onHost(path: string, mounts: readonly { mountPath: string; path: string }[]): string {
  const [mount] = mounts
    .filter(({ mountPath }) => !relative(mountPath, path).startsWith('..'))
    .sort((a, b) => b.mountPath.length - a.mountPath.length);
  return mount ? join(mount.path, relative(mount.mountPath, path)) : path;
}

function tryYaml(text: string): unknown {
  try {
    return parseFirstYaml(text);
  } catch {
    return undefined;
  }
}
