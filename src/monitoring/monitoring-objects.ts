import { ApiObject, Lazy } from 'cdk8s';
import type { Construct } from 'constructs';
import { parseDuration, secondsProblem } from '../lib/duration';
import { annotationProblems, labelProblems } from '../lib/labels';
import type { Manifest, Manifests } from '../lib/manifest';
import { ObjectNames } from '../lib/name-registry';
import { accessProblems } from '../lib/network-access';
import type { ClusterMonitoringSpec } from '../resource/types';
import { problemsOf } from '../validation/problems';

/** The ids of the objects that are complete only at synthesis: another chart may create the reconciler, and stores may be added. */
const late = ['Alerts', 'Deployment'];

/** The ApiObjects of a construct that monitors something. */
export class MonitoringObjects {
  private readonly objects: ReadonlyMap<string, ApiObject>;
  private readonly names: ObjectNames;

  /** `manifests` is asked again at synthesis. */
  constructor(
    private readonly owner: Construct,
    private readonly manifests: () => Manifests,
  ) {
    this.names = new ObjectNames(owner);
    this.objects = new Map([...manifests()].map(([id, manifest]) => [id, this.object(id, manifest)]));
    owner.node.defaultChild = [...this.objects.values()][0];
  }

  get(id: string): ApiObject | undefined {
    return this.objects.get(id);
  }

  /** Those that are there. */
  all(...ids: readonly string[]): ApiObject[] {
    return ids.flatMap((id) => this.objects.get(id) ?? []);
  }

  private object(id: string, manifest: Manifest): ApiObject {
    const { kind, metadata } = manifest;
    this.names.take(kind, metadata.name);
    const field = 'data' in manifest ? 'data' : 'spec';
    const content = Lazy.any({ produce: () => this.manifests().get(id)![field] });
    return new ApiObject(this.owner, id, { ...manifest, metadata, ...(late.includes(id) && { [field]: content }) });
  }

  problems(): string[] {
    return this.names.problems();
  }
}

/** Problems with the monitoring of anything, whoever wrote it. */
export function monitoringProblems({ scrape, scraper, dashboard, labels }: ClusterMonitoringSpec): string[] {
  const interval = scrape?.interval === undefined ? undefined : parseDuration(scrape.interval);
  return [
    ...problemsOf(secondsProblem('scrape: interval', interval)),
    ...(scraper ? accessProblems('scraper', scraper) : []),
    ...labelProblems('dashboard: labels', dashboard?.labels),
    ...annotationProblems('dashboard: annotations', dashboard?.annotations),
    ...labelProblems('labels', labels),
  ];
}
