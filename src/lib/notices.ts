import type { IConstruct } from 'constructs';
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
