import { App } from 'cdk8s';
import notices from '../lib/src/lib/notices.js';

/** Creates an app without its notices: the quickstart uses no image. */
export function quietApp(): App {
  const app = new App();
  notices.onNotice(app, () => {});
  return app;
}
