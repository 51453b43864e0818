import { App } from 'cdk8s';
import unreleased from '../lib/src/lib/unreleased-image.js';

/** Creates an app without the warning about unreleased images: the quickstart uses no image. */
export function quietApp(): App {
  const app = new App();
  unreleased.onUnreleased(app, () => {});
  return app;
}
