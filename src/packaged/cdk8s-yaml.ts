import { createRequire } from 'node:module';

/** cdk8s' YAML parser. `Yaml.load` starts a process for each file, and silently accepts broken YAML. */
export const cdk8sYaml = createRequire(require.resolve('cdk8s'))('yaml');
