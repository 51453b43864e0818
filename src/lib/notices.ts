import type { IConstruct } from 'constructs';
import { agentImage, isReleased, memberImage } from './agent-image';
import { appState } from './construct-tree';

interface Audience {
  readonly told: Set<string>;
  tell: (message: string) => void;
  /** Where to name another image. */
  place: string;
}

const audienceOf = (construct: IConstruct): Audience =>
  appState(construct, 'notices.v1', () => ({
    told: new Set<string>(),
    tell: (text) => console.warn(`cdk8s-etcd: ${text}`),
    place: 'as the agent image of each EtcdCluster and the image of each reconciler and backup',
  }));

/** Adds a validation that finds no problem, but gives a message once for each app. */
export function tellOnce({ node }: IConstruct, messageFor: (place: string) => string): void {
  node.addValidation({
    validate: () => {
      const audience = audienceOf(node.root);
      const message = messageFor(audience.place);
      if (!audience.told.has(message)) audience.tell(message);
      audience.told.add(message);
      return [];
    },
  });
}

/** Gives the messages to `tell` instead of the standard error. Its readers name another image in this `place`. */
export function onNotice(app: IConstruct, tell: (message: string) => void, place?: string): void {
  const audience = audienceOf(app);
  audience.tell = tell;
  audience.place = place ?? audience.place;
}

/** No tag has this version yet, and the packages for other languages contain no guide. */
const guide = 'https://github.com/cdk8s-etcd/cdk8s-etcd/blob/main/docs/getting-started/install.md#build-the-image';

/** Tells once for each app that an image of ours was never released. */
export function tellIfUnreleased(construct: IConstruct, image: string): void {
  if (isReleased || (image !== agentImage && image !== memberImage)) return;
  tellOnce(
    construct,
    (place) =>
      `${agentImage} and ${memberImage} were never released, so no node can pull them; build an image with \`npm run image\` in a checkout, push it, and name it ${place} (${guide})`,
  );
}
