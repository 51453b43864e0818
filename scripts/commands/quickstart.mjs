// `npm run quickstart`: the main job on a fresh machine, with real etcd processes.
import { optionsOf } from '../lib/named.mjs';
import { build, bundle, node, provide } from '../lib/steps.mjs';

optionsOf('quickstart', {});

provide('etcd', '--minors=3.6,3.7');
build();
bundle();
process.exitCode = node('quickstart/main.mts');
