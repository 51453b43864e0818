// What jsii makes for Python, with the types that the package has instead.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const file = JSON.stringify(resolve('scripts/lib/packages/python-package.mjs'));
const script = `import { withCheckedItems } from ${file};
console.log(JSON.stringify(JSON.parse(process.argv[1]).map(withCheckedItems)));`;
const imports = (names: string) => `from jsii._type_checking import ${names}\n`;
const ours = `${imports('cached_type_hints')}\nfrom ._checks import check_type\n`;
const inPackage = (lines: string[]): string[] => {
  const sources = JSON.stringify(lines.map((line) => imports('cached_type_hints, check_type') + line));
  return JSON.parse(execFileSync('node', ['--input-type=module', '-e', script, sources], { encoding: 'utf8' }));
};

const union = (name: string) => `typing.Union["${name}", typing.Dict[builtins.str, typing.Any]]`;

test('lists and maps take structs alone; the value of a parameter may be a dict, which jsii checks', () => {
  const lines: [string, string][] = [
    [
      `tolerations: typing.Optional[typing.Sequence[${union('Toleration')}]] = None,`,
      'tolerations: typing.Optional[typing.Sequence["Toleration"]] = None,',
    ],
    [`peers: typing.Mapping[builtins.str, ${union('Peer')}],`, 'peers: typing.Mapping[builtins.str, "Peer"],'],
    [`a: typing.Sequence[typing.Sequence[${union('A')}]]\nb`, 'a: typing.Sequence[typing.Sequence["A"]]\nb'],
    [
      `a: typing.Sequence[builtins.str], b: typing.Sequence[${union('B')}], c: ${union('C')}) -> None:`,
      `a: typing.Sequence[builtins.str], b: typing.Sequence["B"], c: ${union('C')}) -> None:`,
    ],
    [`cls, *peers: ${union('Peer')}) -> None:`, 'cls, *peers: "Peer") -> None:'],
    ['*peers: typing.Union[Peer, typing.Dict[builtins.str, typing.Any]],', '*peers: Peer,'],
    ...[
      `volume: typing.Optional[${union('EtcdVolume')}] = None,`,
      'labels: typing.Optional[typing.Mapping[builtins.str, builtins.str]] = None,',
    ].map((line): [string, string] => [line, line]),
  ];
  expect(inPackage(lines.map(([line]) => line))).toEqual(lines.map(([, expected]) => ours + expected));
});
