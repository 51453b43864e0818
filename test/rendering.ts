import { parseAllDocuments, stringify } from 'yaml';
import { InputError } from '../src/render/report';
import { type RenderOptions, render } from '../src/render/run';
import { checkSchema } from './kubernetes';
import type { Manifest } from './synth';

export interface Rendering {
  readonly manifests: readonly Manifest[];
  readonly lines: readonly string[];
  /** The note that our image was never released, which is not among the lines. */
  readonly unreleased: readonly string[];
}

/** Renders objects, and checks every manifest that comes out. */
export function rendering(objects: readonly Manifest[], options: Partial<RenderOptions> = {}): Rendering {
  const { yaml, lines } = render(yamlOf(objects), { file: 'input.yaml', ...options });
  const manifests: Manifest[] = parseAllDocuments(yaml).map((document) => document.toJS());
  for (const manifest of manifests) checkSchema(withoutTime(manifest));
  const isUnreleased = (line: string) => line.includes('were never released');
  return {
    manifests,
    lines: lines.filter((line) => !isUnreleased(line)),
    unreleased: lines.filter(isUnreleased),
  };
}

/** The typed resources want times as objects. */
function withoutTime(manifest: Manifest): Manifest {
  return JSON.parse(JSON.stringify(manifest, (key, value) => (key === 'latestVerifiedBefore' ? undefined : value)));
}

/** Returns the only manifest of that kind. */
export function only({ manifests }: Rendering, kind: string): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind);
  expect(found).toHaveLength(1);
  return found[0];
}

/** Returns the errors for objects or a text. */
export function errorsOf(input: readonly Manifest[] | string, options: Partial<RenderOptions> = {}): readonly string[] {
  const text = typeof input === 'string' ? input : yamlOf(input);
  try {
    render(text, { file: 'input.yaml', ...options });
  } catch (error) {
    if (error instanceof InputError) return error.lines;
    throw error;
  }
  throw new Error('it was rendered');
}

function yamlOf(objects: readonly Manifest[]): string {
  return objects.map((object) => stringify(object)).join('---\n');
}
