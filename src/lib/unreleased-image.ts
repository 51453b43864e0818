import type { IConstruct } from 'constructs';
import { agentImage, isReleased, memberImage } from './agent-image';
import { tellOnce } from './notices';

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
