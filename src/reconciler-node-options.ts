/** MiB. By itself V8 takes up to 48 for three of these, and a reconciler has little that is young. */
export const reconcilerNodeOptions = '--max-semi-space-size=1';
