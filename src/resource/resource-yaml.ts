import { ApiObject, App, Chart, Yaml } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { type Kind, schemaOf } from './schema';

/** Returns a resource of a construct as YAML. Its namespace is that of the chart. */
export function resourceYaml(construct: IConstruct, kind: Kind, name: string, spec: object): string {
  const { namespace } = Chart.of(construct);
  const apiVersion = schemaOf(kind).properties!.apiVersion!.const!;
  // In an app of its own, which resolves tokens and sorts the fields as that of the construct does.
  const chart = new Chart(new App(), 'resource', { namespace });
  return Yaml.stringify(new ApiObject(chart, kind, { apiVersion, kind, metadata: { name }, spec }).toJson());
}
