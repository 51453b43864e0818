import type { Construct } from 'constructs';
import { namesakeProblems, takeName } from '../lib/name-registry';

interface TakenName {
  readonly kind: string;
  readonly name: string;
  readonly namesakes: readonly Construct[];
}

/** The names of a cluster's objects. A second object of one of them would silently take its place. */
export class TakenNames {
  private readonly taken: TakenName[] = [];

  constructor(private readonly cluster: Construct) {}

  take(kind: string, name: string): void {
    this.taken.push({ kind, name, namesakes: takeName(this.cluster, kind, name) });
  }

  problems(): string[] {
    const shared = this.taken.filter(({ namesakes }) => namesakes.length > 1);
    const problemsOf = ({ kind, name }: TakenName) =>
      namesakeProblems(this.cluster, kind, kind === 'EtcdCluster' ? 'etcd cluster' : kind, name);
    // Two clusters of one name share all names.
    const cluster = shared.filter(({ kind }) => kind === 'EtcdCluster').flatMap(problemsOf);
    return cluster.length > 0 ? cluster : shared.flatMap(problemsOf);
  }
}
