const union = String.raw`typing\.Union\[([\w."]+), typing\.Dict\[builtins\.str, typing\.Any\]\]`;
const dictForStruct = new RegExp(union, 'g');
const inVariadic = new RegExp(`(\\*\\w+: )${union}`, 'g');

/**
 * For Python, jsii accepts a dict wherever it accepts a struct. It makes a struct of one that is the value of a parameter, and so
 * finds keys that it does not know. One of several values would reach the library without these keys, and tolerate or open
 * more than was written. Returns the source of a module in which lists, maps and variadic parameters take structs alone.
 */
const withoutDicts = (source) => inLists(source.replace(inVariadic, '$1$2'));

const inLists = (source) => source.replace(/typing\.(Sequence|Mapping)\[.*/g, inFirstList);

/** `text` is the rest of a line from the beginning of a list or a map. */
function inFirstList(text) {
  let depth = 0;
  const end = [...text].findIndex((character) => {
    if (character === '[') depth++;
    return character === ']' && --depth === 0;
  });
  return text.slice(0, end + 1).replace(dictForStruct, '$1') + inLists(text.slice(end + 1));
}

/** Returns the source of a module whose parameters are checked by `_checks.py`, in which structs are no dicts. */
export function withCheckedItems(source) {
  const byJsii = 'from jsii._type_checking import cached_type_hints, check_type';
  if (!source.includes(byJsii))
    throw new Error(`jsii-pacmak does not write '${byJsii}' any more: python-checks.py is unused`);
  const byUs = 'from jsii._type_checking import cached_type_hints\n\nfrom ._checks import check_type';
  return withoutDicts(source).replace(byJsii, byUs);
}
