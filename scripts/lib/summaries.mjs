// The rule for the summaries in API.md: each is a whole sentence, with a verb where a reader expects it.

const verbs = new Set(
  `adds allows backs checks compacts compresses configures continues creates decides defines deletes describes
  drops encrypts ensures gives grants grows holds identifies is keeps leads lets limits lists locates must names pauses
  provides puts pulls reads refers refuses renders renews replaces reports represents requests requires reserves returns
  revokes run runs selects sets spreads starts stores suffices suits suspends takes thins tolerates tunes uses`.split(
    /\s+/,
  ),
);

/** Returns true for "Limits the CPU.", "This Role holds …" and "The pods run as …". */
export function hasVerb(summary) {
  const [first = '', , third = '', fourth = ''] = summary.toLowerCase().split(/,?\s+/);
  if (['this', 'the', 'these'].includes(first)) return verbs.has(third) || verbs.has(fourth);
  return verbs.has(first);
}

/** Returns a line for each public symbol of a jsii assembly that has no summary, or whose summary has no verb. */
export function summaryProblems(assembly) {
  return Object.values(assembly.types)
    .flatMap((type) => [
      [type.name, type.docs],
      ...[...(type.members ?? []), ...(type.properties ?? []), ...(type.methods ?? [])].map((member) => [
        `${type.name}.${member.name}`,
        member.docs,
      ]),
    ])
    .filter(([, docs]) => !hasVerb(docs?.summary ?? ''))
    .map(([symbol, docs]) => `${symbol}: ${docs?.summary ?? 'has no summary'}`);
}
