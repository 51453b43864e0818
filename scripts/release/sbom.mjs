// CycloneDX documents: of the npm packages that the library and the agent contain, and of the Go programs in the image.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from '../lib/run.mjs';
import { root } from '../lib/steps.mjs';
import { goModules } from './go-modules.mjs';
import { layoutOf } from './image.mjs';
import { LeftOut, need, needImage } from './left-out.mjs';
import { shippedPackages } from './shipped.mjs';

export async function npmSbom(release) {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
  const document = JSON.parse(await run('npm', args, { cwd: root, env: release.environment }));
  const shipped = shippedPackages(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  const ships = (each) => shipped.has(each['bom-ref'] ?? each.ref);
  document.components = document.components.filter(ships).map(({ properties, ...component }) => component);
  document.dependencies = document.dependencies
    .filter(ships)
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => shipped.has(each)) }));
  // Random, the time of now, and the name of the folder of the checkout.
  delete document.serialNumber;
  document.metadata.timestamp = release.isoTime;
  document.metadata.component.name = 'cdk8s-etcd';
  write(release, `cdk8s-etcd-${release.version}.npm.cdx.json`, document);
}

export async function imageSbom(release) {
  needImage(release);
  await need('go', 'version');
  const lacking = new Set();
  for (const [image, digest] of release.digests) {
    const modules = [];
    for (const { directory } of release.contents.get(image)) {
      for (const name of licensesLackingIn(directory)) lacking.add(name);
      modules.push(...goModules(await run('go', ['version', '-m', directory], { env: release.environment })));
    }
    if (modules.length === 0) throw new Error(`${image}: no Go program was found in it`);
    write(release, `${layoutOf(image)}.go.cdx.json`, document(release, image, digest, modules));
  }
  const names = [...lacking].join(', ');
  if (names) throw new LeftOut(`NODE_IMAGE has no license texts of ${names}, so the images have none in /licenses`);
}

/** Names of what comes from the base image, and must have its license in an unpacked image. */
export const licensesLackingIn = (directory) =>
  ['node', 'libc6', 'libgcc-s1', 'libstdc++6'].filter((name) => !existsSync(join(directory, 'licenses', name)));

function document(release, image, digest, modules) {
  const [repository, version] = image.split(':');
  const purl = `pkg:oci/${basename(repository)}@${encodeURIComponent(digest)}?repository_url=${repository}&tag=${version}`;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: release.isoTime,
      component: { type: 'container', 'bom-ref': image, name: image, version, purl },
    },
    components: [...new Map(modules.map((module) => [module['bom-ref'], module])).values()].sort((a, b) =>
      a['bom-ref'] < b['bom-ref'] ? -1 : 1,
    ),
  };
}

const write = (release, name, document) =>
  writeFileSync(release.file(name), `${JSON.stringify(document, undefined, 2)}\n`);
