// What the API server and synth must refuse: a value for each limit and each rule of each field, and the specs of bad-specs.ts.
import type { Manifest } from '../synth';
import { badTexts } from './bad-texts';
import { good } from './good';
import { type BadValue, badValues } from './limits';
import { changed, fieldIn, fieldOf, kinds, type Place, placesOf, schemaOf } from './schema';

export const crdOf = (kind: string): Manifest => kinds.find((crd) => crd.spec.names.kind === kind);
export const rulesOf = (schema: Manifest): Manifest[] => schema['x-kubernetes-validations'] ?? [];

const valueAt = (manifest: Manifest, { path }: Place): Manifest =>
  path.reduce((inner: Manifest, step) => inner?.[step], manifest);

/** Each field of each resource's spec once, in the first good resource that has it. */
export const fields = new Map<string, { manifest: Manifest; place: Place }>();
for (const manifest of Object.values(good)) {
  const { spec } = schemaOf(crdOf(manifest.kind)).properties;
  for (const place of placesOf(spec, manifest.spec, ['spec'])) {
    const key = `${manifest.kind} ${fieldIn(schemaOf(crdOf(manifest.kind)), fieldOf(place.path))}`;
    if (valueAt(manifest, place) !== undefined && !fields.has(key)) fields.set(key, { manifest, place });
  }
}

export const limits: [string, BadValue][] = [...fields].flatMap(([field, { manifest, place }]) =>
  badValues(manifest, place, valueAt(manifest, place)).map((bad): [string, BadValue] => [`${field}: ${bad.what}`, bad]),
);

const isText = ({ schema }: Place): boolean => schema.type === 'string';
export const texts = [...fields].filter(([, { place }]) => isText(place));

/** Texts that a rule refuses. */
export const textCases = texts.flatMap(([field, { manifest, place }]) =>
  rulesOf(place.schema).flatMap(({ message }) =>
    Object.entries(badTexts)
      .filter(([says]) => message.startsWith(says))
      .flatMap(([says, values]) =>
        values.map((value) => ({
          field,
          value,
          says,
          message,
          manifest: changed(manifest, place.path, value),
          path: place.path,
        })),
      ),
  ),
);
