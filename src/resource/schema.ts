import { schemas } from './bundled';

/** A kind of custom resource. */
export type Kind = 'EtcdCluster' | 'EtcdBackup' | 'EtcdRestore' | 'EtcdUser' | 'EtcdBackupSchedule' | 'EtcdReconciler';

/** A rule in CEL, with the message for a violation. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  /** Path of the field that is wrong, from the object that has the rule, such as `.size`. */
  readonly fieldPath?: string;
}

/** The part of JSON Schema that describes the custom resources. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  /** What the keys of a map are like: those of labels and of annotations. */
  readonly propertyNames?: { readonly pattern: string };
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  /** False: an object has no other fields. */
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

interface Reference extends Schema {
  readonly $ref?: string;
}

type Definitions = Readonly<Record<string, Reference>>;

const known = new Map<Kind, Schema>();

/** Returns the schema of a resource, in which each reference is replaced by what it refers to. */
export function schemaOf(kind: Kind): Schema {
  let schema = known.get(kind);
  if (!schema) {
    const { $defs, ...root } = schemas[kind]!() as Schema & { readonly $defs: Definitions };
    schema = resolved(root, $defs, new Map());
    known.set(kind, schema);
  }
  return schema;
}

function resolved(node: Reference, defs: Definitions, made: Map<string, Schema>): Schema {
  if (node.$ref) {
    const before = made.get(node.$ref);
    const schema = before ?? resolved(defs[node.$ref.slice('#/$defs/'.length)]!, defs, made);
    made.set(node.$ref, schema);
    return schema;
  }
  const { properties, additionalProperties, items } = node;
  const below = (each: Schema) => resolved(each, defs, made);
  return {
    ...node,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, below(each)])),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: below(additionalProperties) }),
    ...(items && { items: below(items) }),
  };
}
