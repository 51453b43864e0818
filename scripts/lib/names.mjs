// The rules for the names of the public API: each can be written in Python, Java and Go, and no two become one there.

const words = (text) => new Set(text.split(/\s+/));

const reserved = {
  Python: words(
    `and as assert async await break class continue def del elif else except finally for from global if import in is
    lambda nonlocal not or pass raise return self try while with yield`,
  ),
  Java: words(
    `abstract assert boolean break byte case catch char class clone const continue default do double else enum equals
    extends false final finalize finally float for goto hashCode if implements import instanceof int interface long
    native new notify notifyAll null package private protected public return short static strictfp super switch
    synchronized this throw throws transient true try void volatile wait while`,
  ),
  Go: words(
    `break case chan const continue default defer else fallthrough for func go goto if import interface map package
    range return select struct switch type var`,
  ),
};

const isConstant = (name) => /^[A-Z][A-Z0-9_]*$/.test(name);
const capitalized = (name) => name[0].toUpperCase() + name.slice(1);
const snake = (name) => (isConstant(name) ? name : name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase());

/** What a member is called in each language. A static one of Go is a function beside the type. */
const written = {
  Python: ({ name }) => snake(name),
  Java: ({ name, isProperty }) => (isProperty && !isConstant(name) ? `get${capitalized(name)}` : name),
  Go: ({ name, static: isStatic }) => `${isStatic ? '_' : ''}${capitalized(name)}`,
};

/** Returns a line for each name of a jsii assembly that another language reserves, and for each two that are one there. */
export function nameProblems(assembly) {
  const types = Object.values(assembly.types);
  return [
    ...twins(types, ({ name }) => name.toLowerCase()).map((pair) => `${pair} are one file where case does not count`),
    ...types.flatMap((type) => typeProblems(type, assembly)),
  ];
}

function typeProblems(type, assembly) {
  const all = [type, ...basesOf(type, assembly)].flatMap(membersOf);
  const callables = [...(type.methods ?? []), ...(type.initializer ? [{ name: 'new', ...type.initializer }] : [])];
  return [
    ...membersOf(type).flatMap(({ name }) => reservedProblems(`${type.name}.${name}`, name, ['Python', 'Java'])),
    ...Object.entries(written).flatMap(([language, write]) =>
      twins(all, write).map((pair) => `${type.name}: ${pair} are one name in ${language}`),
    ),
    ...callables.flatMap((callable) => parameterProblems(`${type.name}.${callable.name}`, callable, assembly)),
  ];
}

function parameterProblems(symbol, { parameters = [] }, assembly) {
  const struct = assembly.types[parameters.at(-1)?.type?.fqn];
  const keywords = struct?.datatype ? [struct, ...basesOf(struct, assembly)].flatMap(membersOf) : [];
  const positional = struct?.datatype ? parameters.slice(0, -1) : [];
  return [
    ...parameters.flatMap(({ name }) => reservedProblems(`${symbol}(${name})`, name, ['Python', 'Java', 'Go'])),
    ...positional
      .filter(({ name }) => keywords.some((keyword) => snake(keyword.name) === snake(name)))
      .map(({ name }) => `${symbol}(${name}) is a property of ${struct.name} too: Python passes both as keywords`),
  ];
}

function reservedProblems(symbol, name, languages) {
  return languages
    .filter((language) => reserved[language].has(language === 'Python' ? snake(name) : name))
    .map((language) => `${symbol} is reserved in ${language}`);
}

/** Members of a type, enum members included. */
function membersOf({ properties = [], methods = [], members = [] }) {
  return [...properties.map((property) => ({ ...property, isProperty: true })), ...methods, ...members];
}

/** The types of this assembly that a type extends. */
function basesOf({ base, interfaces = [] }, assembly) {
  return [base, ...interfaces]
    .map((fqn) => assembly.types[fqn])
    .filter((type) => type !== undefined)
    .flatMap((type) => [type, ...basesOf(type, assembly)]);
}

/** Pairs of different names that are written alike. */
function twins(named, write) {
  const first = new Map();
  return named.flatMap((one) => {
    const form = write(one);
    if (!first.has(form)) first.set(form, one.name);
    return first.get(form) === one.name ? [] : [`${first.get(form)} and ${one.name}`];
  });
}
