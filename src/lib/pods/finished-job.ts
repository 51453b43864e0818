// The Job of an EtcdBackup, of an EtcdRestore or of an operation as it is after all fields and overrides. The reconciler makes it, and
// the constructs check it at synthesis.
import { kubernetesTypes } from '../../overrides/kubernetes-types.ts';
import { type Fault, fieldOf, isOfSchema, ownedProblem, type Pods, podFault } from '../../overrides/owned-fields.ts';
import { changes, merged, patchProblem, pathOf, shapeOf } from '../../overrides/strategic-merge.ts';
import { type JobSources, withFields } from './job-pod.ts';

const shape = shapeOf(kubernetesTypes, 'PodTemplateSpec');

/** What a Job needs, and where its settings are. */
export interface JobPlace extends Pick<Pods, 'isPart'> {
  /** The problem with the memory of its pods, if it opens the snapshot. */
  readonly lacks?: ((template: unknown) => string | undefined) | undefined;
  /** Before the fields of its resource: `spec.`. */
  readonly own: string;
  /** Before the fields of its cluster: `EtcdCluster orders: spec.`. */
  readonly ofCluster: string;
}

export interface JobProblem {
  /** True if the resource itself is to blame, not its schedule or its cluster. */
  readonly isOwn: boolean;
  readonly text: string;
}

export interface FinishedJob {
  readonly job: object;
  readonly problems: readonly JobProblem[];
  /** The problem with the limit of memory, whoever gave it. */
  readonly memory?: JobProblem | undefined;
  /** Where the own overrides are that change nothing. */
  readonly idle: readonly string[];
}

/**
 * Returns a Job with the fields of its sources, and with the overrides of the cluster, then those of the schedule and of the resource
 * itself.
 *
 * @param made the Job without them
 */
export function finishedJob(made: object, sources: JobSources, place: JobPlace): FinishedJob {
  const { cluster, schedule, own } = sources;
  const { lacks, isPart, ofCluster } = place;
  const pods: Pods = { target: 'BackupPods', isPart: isPart || undefined };
  const job = withFields(made, sources) as { readonly template: unknown };
  let { template } = job;
  const problems = fieldProblems(made, sources, place, pods);
  const idle: string[] = [];
  // Who gave the limit of memory last.
  let giver = own?.resources
    ? { isOwn: true, at: `${place.own}resources` }
    : { isOwn: false, at: `${scheduleAt(sources, place)}resources` };
  for (const { at, isOwn, overrides = [] } of [
    { at: ofCluster, isOwn: false, overrides: cluster?.overrides },
    { at: scheduleAt(sources, place), isOwn: false, overrides: schedule?.overrides },
    { at: place.own, isOwn: true, overrides: own?.overrides },
  ]) {
    for (const [index, { target, patch }] of overrides.entries()) {
      if (target !== pods.target) continue;
      const path = `${at}overrides[${index}].patch`;
      const before = template;
      const result = patched(before, patch, path, pods);
      if ('problem' in result) {
        problems.push({ isOwn, text: result.problem });
        continue;
      }
      template = result.after;
      if (isOwn && !result.isChanged) idle.push(path);
      if (lacks?.(template) !== lacks?.(before)) giver = { isOwn, at: path };
    }
  }
  const lacking = lacks?.(template);
  const memory = lacking === undefined ? undefined : { isOwn: giver.isOwn, text: `${giver.at}: ${lacking}` };
  return { job: { ...job, template }, problems, memory, idle };
}

const scheduleAt = ({ schedule }: JobSources, { ofCluster }: JobPlace): string =>
  `${ofCluster}${schedule ? `backup.schedules[${schedule.name}].` : ''}`;

/** The first mistake that the fields make, with the field of the one whose it is. */
function fieldProblems(made: object, sources: JobSources, place: JobPlace, pods: Pods): JobProblem[] {
  const faultWith = (own: JobSources['own']): Fault | undefined =>
    podFault((withFields(made, { ...sources, own }) as { readonly template: unknown }).template, pods);
  const { own = {} } = sources;
  const fault = faultWith(own);
  if (!fault || isOfSchema(fault)) return [];
  const field = fieldOf(fault.at, pods);
  const [first = ''] = /^\w+/.exec(field) ?? [];
  const isCause = (name: string) => !isSame(faultWith({ ...own, [name]: undefined }), fault);
  // A field of its own may not fit one of the schedule, which stays.
  const cause = [first, ...Object.keys(own)].find((name) => Object.hasOwn(own, name) && isCause(name));
  if (cause === undefined) return [{ isOwn: false, text: `${scheduleAt(sources, place)}${field}: ${fault.says}` }];
  const at = cause === first ? field : `${cause}, with the ${field} that the Job has besides`;
  return [{ isOwn: true, text: `${place.own}${at}: ${fault.says}` }];
}

const isSame = (one: Fault | undefined, other: Fault): boolean => one?.at === other.at && one.says === other.says;

type Patched = { readonly problem: string } | { readonly after: unknown; readonly isChanged: boolean };

function patched(before: unknown, patch: unknown, path: string, pods: Pods): Patched {
  const wrong = patchProblem(patch, shape, path);
  if (wrong) return { problem: wrong };
  const after = merged(before, patch, shape);
  const all = [...changes(before, after, shape)];
  const owned = ownedProblem(pods, all, (steps) => `${path}.${pathOf(steps)}`);
  if (owned) return { problem: owned };
  const fault = podFault(after, pods);
  if (!fault || isSame(podFault(before, pods), fault)) return { after, isChanged: all.length > 0 };
  return { problem: `${path}.${fault.at}: ${fault.says}` };
}
