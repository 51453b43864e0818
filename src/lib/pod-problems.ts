import { valueProblems } from '../resource/prop-problems';
import { type INamed, nameOf } from '../validation/named';
import { problemsOf } from '../validation/problems';
import { isToken } from '../validation/tokens';
import type { ImagePullPolicy } from './image-pull-policy';
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
export function podProblems({ imagePullSecrets, nodeSelector, tolerations = [], ...props }: PodProps): string[] {
  const { imagePullPolicy, priorityClassName } = props;
  const secrets = imagePullSecrets?.map((secret) => ({ name: nameOf(secret) }));
  const fields = { imagePullPolicy, imagePullSecrets: secrets, priorityClassName, tolerations };
  return [
    ...Object.entries(fields).flatMap(([name, value]) => valueProblems(name, `spec.${name}`, value)),
    ...labelProblems('nodeSelector', nodeSelector),
    ...tolerations.flatMap(({ key }, index) =>
      problemsOf(
        key === undefined || isToken(key) ? undefined : qualifiedNameProblem(`tolerations[${index}].key`, key),
      ),
    ),
  ];
}

/** Problem with the agent's image, or undefined. */
export function agentImageProblem(image: string | undefined): string | undefined {
  if (image === undefined || /^\S+$/.test(image)) return undefined;
  return `image: '${image}' is not a valid image; write it like registry/agent:tag, or leave it out`;
}
