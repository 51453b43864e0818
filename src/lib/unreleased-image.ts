import type { IConstruct } from 'constructs';
import { agentImage, isReleased, memberImage } from './agent-image';
import { appState } from './construct-tree';

interface Audience {
  told: boolean;
  tell: (message: string) => void;
  /** Where to name another image. */
  place: string;
}

/** No tag has this version yet, and the packages for other languages contain no guide. */
const guide = 'https://github.com/cdk8s-etcd/cdk8s-etcd/blob/main/docs/getting-started/install.md#build-the-image';

const messageFor = (place: string) =>
  `${agentImage} and ${memberImage} were never released, so no node can pull them; build an image with \`npm run image\` in a checkout, push it, and name it ${place} (${guide})`;

const audienceOf = (construct: IConstruct): Audience =>
  appState(construct, 'unreleasedImage', () => ({
    told: false,
    tell: (text) => console.warn(`cdk8s-etcd: ${text}`),
    place: 'as the agent image of each EtcdCluster and the image of each reconciler and backup',
  }));

/** Adds a validation that finds no problem, but tells once for each app that an image of ours was never released. */
export function tellIfUnreleased({ node }: IConstruct, image: string): void {
  if (isReleased || (image !== agentImage && image !== memberImage)) return;
  node.addValidation({
    validate: () => {
      const audience = audienceOf(node.root);
      if (!audience.told) audience.tell(messageFor(audience.place));
      audience.told = true;
      return [];
    },
  });
}

/** Gives the message to `tell` instead of the standard error. Its readers name another image in this `place`. */
export function onUnreleased(app: IConstruct, tell: (message: string) => void, place?: string): void {
  const audience = audienceOf(app);
  audience.tell = tell;
  audience.place = place ?? audience.place;
}
