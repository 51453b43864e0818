import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as z from 'zod/mini';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';
import { parseYaml } from '../../lib/input/yaml.ts';

const containerSchema = z.object({
  name: z.string(),
  image: z.optional(z.string()),
  command: z.optional(z.array(z.string())),
  args: z.optional(z.array(z.string())),
  env: z.optional(z.array(z.object({ name: z.string(), value: z.optional(z.string()) }))),
  securityContext: z.optional(z.object({ runAsUser: z.optional(z.int()), runAsGroup: z.optional(z.int()) })),
  volumeMounts: z.optional(z.array(z.object({ name: z.string(), mountPath: z.string() }))),
});
const podSchema = z.object({
  kind: z.literal('Pod'),
  spec: z.object({
    containers: z.array(containerSchema).check(z.minLength(1)),
    securityContext: z.optional(z.object({ runAsUser: z.optional(z.int()), runAsGroup: z.optional(z.int()) })),
    volumes: z.optional(z.array(z.object({ name: z.string(), hostPath: z.optional(z.object({ path: z.string() })) }))),
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
    throw new AgentError(ExitCode.usage, `${file}: cannot be read ${readFault(error)}`);
  });
  const wrong = (why: string) =>
    new AgentError(ExitCode.usage, `${file}: not a kubeadm manifest: ${why}; see --manifests-dir`);
  const parsed = podSchema.safeParse(tryYaml(text));
  if (!parsed.success) throw wrong('it does not define a Pod');
  const { spec } = parsed.data;
  const found = spec.containers.find(({ name }) => name === container);
  if (!found) throw wrong(`its Pod has no container '${container}'`);
  const [program, ...args] = [...(found.command ?? []), ...(found.args ?? [])];
  if (!program) throw wrong(`the container '${container}' has no command`);
  const user = { ...spec.securityContext, ...found.securityContext };
  const mounts = (found.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
    const path = spec.volumes?.find((volume) => volume.name === name)?.hostPath?.path;
    return path === undefined ? [] : [{ mountPath, path }];
  });
  return {
    program,
    args,
    env: Object.fromEntries((found.env ?? []).map(({ name, value }) => [name, value ?? ''])),
    ...(found.image !== undefined && { image: found.image }),
    ...(user.runAsUser !== undefined && { uid: user.runAsUser }),
    ...(user.runAsGroup !== undefined && { gid: user.runAsGroup }),
    hostPath: (path) => onHost(path, mounts),
  };
}

/** Uses the deepest mount that contains the path. A path outside all mounts counts as a path on the host. */
function onHost(path: string, mounts: readonly { mountPath: string; path: string }[]): string {
  const [mount] = mounts
    .filter(({ mountPath }) => !relative(mountPath, path).startsWith('..'))
    .sort((a, b) => b.mountPath.length - a.mountPath.length);
  return mount ? join(mount.path, relative(mount.mountPath, path)) : path;
}

function tryYaml(text: string): unknown {
  try {
    return parseYaml(text);
  } catch {
    return undefined;
  }
}
