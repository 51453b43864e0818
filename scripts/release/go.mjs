// The sources of the Go module: what is committed and tagged in its own repository.
import { pack } from './pack.mjs';

export async function go(release) {
  pack(release.sources('go'), release.file(`cdk8s-etcd-go-${release.version}.tar.gz`), release.time);
}
