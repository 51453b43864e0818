import { ApiObject, App, Chart, Yaml } from 'cdk8s';
import { type Kind, schemaOf } from './schema';

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: { readonly [name: string]: string };
}

/** Returns a resource as YAML. */
export function resourceYaml(kind: Kind, { namespace, ...metadata }: Metadata, spec: object): string {
  const apiVersion = schemaOf(kind).properties!.apiVersion!.const!;
  // In an app of its own, which resolves tokens and sorts the fields as that of the construct does.
  const chart = new Chart(new App(), 'resource', { namespace });
  return Yaml.stringify(new ApiObject(chart, kind, { apiVersion, kind, metadata, spec }).toJson());
}
