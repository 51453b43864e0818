import * as oldest from 'cdk8s-plus-27';
import * as newest from 'cdk8s-plus-34';

export { newest, oldest };

/** The same objects in the oldest and in the newest package of cdk8s-plus. */
export const plus = [
  ['cdk8s-plus-27', oldest],
  ['cdk8s-plus-34', newest as unknown as typeof oldest],
] as const;
