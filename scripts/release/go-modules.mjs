// What Go writes into each of its programs: the modules that it was built from.

/** Returns a CycloneDX component for each module that `go version -m` prints. */
export function goModules(text) {
  const components = [];
  for (const line of text.split('\n')) {
    const [, kind, name, version] = line.split('\t');
    const toolchain = /: (go\d\S*)$/.exec(line);
    if (toolchain) components.push(component('std', toolchain[1].replace(/^go/, '')));
    else if (kind === 'mod' || kind === 'dep') components.push(component(name, version));
    // A module that replaces the one before it. A folder in its place has no version of its own.
    else if (kind === '=>' && !/^[./]/.test(name)) components.splice(-1, 1, component(name, version));
  }
  return components;
}

function component(name, version) {
  const purl = `pkg:golang/${name}@${encodeURIComponent(version)}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl };
}
