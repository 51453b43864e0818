// Python shows the text of each parameter. The last one may be a struct, whose properties have their own.

/** Returns a line for each parameter of a jsii assembly that has no text. */
export function parameterProblems({ types }) {
  return Object.values(types).flatMap((type) =>
    [...(type.methods ?? []), ...(type.initializer ? [{ name: 'new', ...type.initializer }] : [])].flatMap(
      ({ name, parameters = [] }) =>
        parameters
          .filter(({ docs, type: { fqn } = {}, variadic }) => !docs?.summary && (variadic || !types[fqn]?.datatype))
          .map((parameter) => `${type.name}.${name}(${parameter.name})`),
    ),
  );
}
