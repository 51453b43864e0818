// Parts of panels.

/** Returns a function that selects a metric by variables of Grafana. */
export const selector =
  (...variables) =>
  (metric, ...matchers) =>
    `${metric}{${[...variables.map((name) => `${name}="$${name}"`), ...matchers].join(', ')}}`;

/** Colors from a value on: green below, then orange, then red. */
export const upTo = (orange, red) => [
  { value: null, color: 'green' },
  { value: orange, color: 'orange' },
  { value: red, color: 'red' },
];
/** Red below, green from this value on. */
export const from = (green) => [
  { value: null, color: 'red' },
  { value: green, color: 'green' },
];
