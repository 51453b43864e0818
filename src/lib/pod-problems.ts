import { choiceProblem } from '../validation/choice';
import { nameProblem, problemsOf } from '../validation/names';
import { ImagePullPolicy } from './image-pull-policy';
import { labelProblems, qualifiedNameProblem } from './labels';
import type { Toleration } from './toleration';

/** What may be said of any pod: how its images are pulled, and where it runs. */
export interface PodProps {
  readonly imagePullPolicy?: ImagePullPolicy;
  readonly imagePullSecrets?: readonly string[];
  readonly priorityClassName?: string;
  readonly nodeSelector?: { readonly [name: string]: string };
  readonly tolerations?: readonly Toleration[];
}

/** What Kubernetes would refuse about a pod. */
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
      ...imagePullSecrets.map((secret) => nameProblem('imagePullSecrets', secret)),
      priorityClassName === undefined ? undefined : nameProblem('priorityClassName', priorityClassName),
    ),
    ...labelProblems('nodeSelector', nodeSelector),
    ...tolerations.flatMap((each) => tolerationProblems(each)).map((problem) => `tolerations: ${problem}`),
  ];
}

/** What is wrong with the image of an agent; undefined when nothing is. */
export function agentImageProblem(image: string | undefined): string | undefined {
  if (image === undefined || /^\S+$/.test(image)) return undefined;
  return `image: '${image}' is no image; write it like registry/agent:tag, or leave it out`;
}

const operators = ['Exists', 'Equal'];
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function tolerationProblems({ key, operator, value, effect, tolerationSeconds }: Toleration): string[] {
  return [
    ...problemsOf(
      choiceProblem('operator', operator, operators),
      choiceProblem('effect', effect, effects),
      key === undefined ? undefined : qualifiedNameProblem('key', key),
      !key && operator !== 'Exists' ? "key: none given; name the taint, or say operator: 'Exists' for all" : undefined,
      value && operator === 'Exists' ? `value: '${value}' is of no use with operator Exists; remove one` : undefined,
      tolerationSeconds !== undefined && effect !== 'NoExecute'
        ? "tolerationSeconds: is of no use without effect: 'NoExecute'; give both, or remove it"
        : undefined,
      tolerationSeconds === undefined || Number.isSafeInteger(tolerationSeconds)
        ? undefined
        : `tolerationSeconds: ${tolerationSeconds} is no whole number; give one, such as 300`,
    ),
    ...labelProblems('value', value === undefined || key === undefined ? {} : { [key]: value }),
  ];
}
