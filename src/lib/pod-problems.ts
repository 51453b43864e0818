import { type INamed, nameOf } from '../validation/named';
import { manifestNameProblem } from '../validation/names';
import { choiceProblem, problemsOf } from '../validation/problems';
import { isToken } from '../validation/tokens';
import { ImagePullPolicy } from './image-pull-policy';
import { labelProblems, qualifiedNameProblem } from './labels';
import type { Toleration } from './toleration';

/** Properties that every pod has: how its images are pulled, and where it runs. */
export interface PodProps {
  readonly imagePullPolicy?: `${ImagePullPolicy}`;
  readonly imagePullSecrets?: readonly (string | INamed)[];
  readonly priorityClassName?: string;
  readonly nodeSelector?: { readonly [name: string]: string };
  readonly tolerations?: readonly Toleration[];
}

/** Problems that Kubernetes would report for these properties of a pod. */
export function podProblems({
  imagePullPolicy,
  imagePullSecrets = [],
  priorityClassName,
  nodeSelector,
  tolerations = [],
}: PodProps): string[] {
  return [
    ...problemsOf(
      choiceProblem('imagePullPolicy', imagePullPolicy, ImagePullPolicy),
      ...imagePullSecrets.map((secret) => manifestNameProblem('imagePullSecrets', nameOf(secret))),
      priorityClassName === undefined ? undefined : manifestNameProblem('priorityClassName', priorityClassName),
    ),
    ...labelProblems('nodeSelector', nodeSelector),
    ...tolerations.flatMap((each) => tolerationProblems(each)).map((problem) => `tolerations: ${problem}`),
  ];
}

/** Problem with the agent's image, or undefined. */
export function agentImageProblem(image: string | undefined): string | undefined {
  if (image === undefined || /^\S+$/.test(image)) return undefined;
  return `image: '${image}' is not a valid image; write it like registry/agent:tag, or leave it out`;
}

const operators = ['Exists', 'Equal'];
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function tolerationProblems({ key, operator, value, effect, tolerationSeconds }: Toleration): string[] {
  return [
    ...problemsOf(
      choiceProblem('operator', operator, operators),
      choiceProblem('effect', effect, effects),
      key === undefined || isToken(key) ? undefined : qualifiedNameProblem('key', key),
      !key && operator !== 'Exists'
        ? "key: is missing; give the key of the taint, or set operator: 'Exists' for all taints"
        : undefined,
      value && operator === 'Exists'
        ? `value: '${value}' has no effect with operator Exists; remove one of them`
        : undefined,
      tolerationSeconds !== undefined && effect !== 'NoExecute'
        ? "tolerationSeconds: has no effect without effect: 'NoExecute'; give both, or remove it"
        : undefined,
      tolerationSeconds === undefined || Number.isSafeInteger(tolerationSeconds)
        ? undefined
        : `tolerationSeconds: ${tolerationSeconds} is not a whole number; give one, such as 300`,
    ),
    ...labelProblems('value', value === undefined || key === undefined ? {} : { [isToken(key) ? 'key' : key]: value }),
  ];
}
